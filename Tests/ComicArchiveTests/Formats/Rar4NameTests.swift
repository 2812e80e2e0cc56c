import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox
@testable import steward_worker

/// Names in RAR 4 headers, and their compact Unicode form.
@Suite("Names in RAR 4 headers") struct Rar4NameTests {
    private func name(_ legacy: String, _ short: [UInt8]) -> String {
        String(decoding: Rar4Name.read(Array(legacy.utf8) + [0] + short, isUnicode: true), as: UTF8.self)
    }

    @Test("Letters sharing the high byte, and runs copied from the legacy name") func lettersSharedHigh() {
        #expect(name("??? 1.png", [0x04, 0b01_01_01_11, 0x22, 0x3E, 0x3C, 4]) == "Том 1.png")
    }

    @Test("Full code units, including a surrogate pair") func wholeLettersAmong() {
        #expect(name("??.png", [0, 0b10_10_11_00, 0x2B, 0x6F, 0x3B, 0x75, 2]) == "漫画.png")
        #expect(name("??.png", [0, 0b10_10_11_00, 0x3D, 0xD8, 0x00, 0xDE, 2]) == "😀.png")
    }

    @Test("Low bytes alone, over more than one group") func lowBytesAlone() {
        #expect(name("caf?.png", [0, 0b00_00_00_00, 0x63, 0x61, 0x66, 0xE9, 0b11_00_00_00, 2]) == "café.png")
    }

    @Test("A run that is shifted") func runShifted() {
        #expect(name("\u{10}\u{11}", [0x04, 0b11_00_00_00, 0x80, 0x20]) == "аб")
    }

    @Test("Folders, names in UTF-8 and names in a code page") func foldersNamesUtf() {
        #expect(Rar4Name.read(Array("a\\b.png".utf8), isUnicode: false) == Array("a/b.png".utf8))
        #expect(Rar4Name.read(Array("ä\\b.png".utf8), isUnicode: true) == Array("ä/b.png".utf8))
        #expect(Rar4Name.read([0x8A, 0x94, 0x5C, 0x31], isUnicode: false) == [0x8A, 0x94, 0x2F, 0x31])
        #expect(name("a?b.png", [0, 0b00_00_11_00, 0x61, 0x5C, 3]) == "a/b.png")
    }

    @Test("A short form that is truncated or lies ends where it ends") func shortFormCut() {
        #expect(name("legacy.png", []) == "legacy.png")
        #expect(name("legacy.png", [4]) == "legacy.png")
        #expect(name("ab", [4, 0b11_11_11_11, 0x7F, 0x7F]) == "ab")
        #expect(name("?", [0, 0b10_00_00_00, 0x3D, 0xD8]) == "\u{FFFD}")
        var random = SeededGenerator(for: "names of RAR 4")
        var (plain, unfolded) = (0, 0)
        for _ in 0..<2000 {
            let field = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let name = Rar4Name.read(field, isUnicode: true)
            #expect(name.count <= 3 * (ArchiveLimits.maxNameLength + 130))
            let isPlain = name == field.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
            if isPlain { plain += 1 } else { unfolded += 1 }
        }
        // Half of them contain the zero that precedes the compact form.
        #expect(plain > 800 && unfolded > 800, "\(plain) plain, \(unfolded) unfolded")
        let endless = [UInt8](repeating: 0xFF, count: 60_000)
        #expect(Rar4Name.read([0] + endless, isUnicode: true).count <= 3 * (ArchiveLimits.maxNameLength + 130))
    }

    /// libarchive reads the same headers if an archive is not solid.
    @Test(
        "Names and kinds match those of libarchive",
        .enabled(if: ArchiveWorker.unpacksSolidRar, "unar is not installed"))
    func namesKindsLibarchive() async throws {
        let folder = try TemporaryFolder("names")
        let worker = try builtWorker()
        var archive = RawRar([
            RawRar.Entry("1.png", picture(1)), RawRar.Entry("a\\2.png", picture(2)),
            RawRar.Entry("sub", mode: 0o040_755), RawRar.Entry("l.png", Array("1.png".utf8), mode: 0o120_777),
            RawRar.Entry(
                Array("??? 3.png".utf8) + [0, 0x04, 0b01_01_01_11, 0x22, 0x3E, 0x3C, 4], picture(3)),
        ])
        archive.entries[2].isFolder = true
        archive.entries[4].isUnicode = true
        let plain = try await worker.list(try folder.write("plain.cbr", archive.four)).headers
        #expect(plain.map { String(decoding: $0.path, as: UTF8.self) }.last == "Том 3.png")
        archive.isSolid = true
        let solid = try await worker.list(try folder.write("solid.cbr", archive.four)).headers
        #expect(solid.map(\.kind) == plain.map(\.kind))
        for (one, other) in zip(solid, plain) {
            #expect(one.path == other.path || one.path == other.path + [UInt8(ascii: "/")])
        }
    }
}
