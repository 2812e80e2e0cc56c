import Platform
import TKCommands
import TestSupport
import Testing

@Suite("Command-line words")
struct GivenWordTests {
    private static let samples: [[UInt8]] = [
        [], Array("plain.md".utf8), Array("é 漢字 👩‍👩‍👧".utf8), Array("ex".utf8) + [0xE9], [0xE9, 0x80], [0xFF, 0xFE, 0x80],
        // An incomplete scalar, a surrogate, an overlong one, one past the last.
        [0xF0, 0x9F], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80],
        // The private characters that represent such bytes, passed literally.
        Array("a\u{10F7E9}b".utf8), Array("\u{10F780}\u{10F7FF}".utf8) + [0xE9],
    ]

    @Test("Become text and are the same bytes again", arguments: samples)
    func roundTrip(_ bytes: [UInt8]) {
        let text = GivenWords.text(of: bytes)
        #expect(GivenWords.bytes(of: text) == bytes)
        #expect(!text.unicodeScalars.contains("\u{FFFD}"))
        #expect(PathArgument(argument: text)?.path == BytePath(bytes: bytes))
    }

    @Test("The same for any bytes")
    func anyBytes() {
        var random = SeededGenerator(for: "GivenWordTests.anyBytes")
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 1...127, using: &random) : .random(in: 128...255, using: &random)
            }
            #expect(GivenWords.bytes(of: GivenWords.text(of: bytes)) == bytes, "\(bytes)")
        }
    }

    @Test("A path is what was given, and is relative to the working folder")
    func paths() {
        let path = PathArgument("a/../b/./c/")
        #expect(path.isFolder && !path.isStream && path.path == "a/../b/./c")
        #expect(path.standardized.nameText == "c" && path.standardized.parent.nameText == "b")
        #expect(PathArgument("-").isStream && !PathArgument("-").isFolder)
        #expect(PathArgument("/x/../../y").standardized == "/y" && PathArgument("/..").standardized == "/")
        #expect(PathArgument("/x").absolute == "/x")
    }
}
