import Foundation
import Platform
import TestSupport
import Testing

@Suite("Byte paths")
struct BytePathTests {
    @Test("Repeated and trailing slashes are removed, a NUL ends the path, nothing else is touched")
    func cleaning() {
        #expect(BytePath("a//b///c/").bytes == Array("a/b/c".utf8))
        #expect(BytePath("//a") == "/a")
        #expect(BytePath("/").bytes == [47])
        #expect(BytePath("///") == "/")
        #expect(BytePath(bytes: [97, 0, 98]) == "a")
        #expect(BytePath("./a/../b").text == "./a/../b")
    }

    @Test("A name that is not UTF-8 survives JSON byte for byte")
    func notUTF8() throws {
        let path = BytePath(bytes: [0x66, 0xFF, 0xC3, 0x28, 0xE2, 0x82, 0x5C, 0x0A, 0xED, 0xA0, 0x80, 0xC0, 0xAF])
        let json = try JSONEncoder().encode([path])
        #expect(try JSONDecoder().decode([BytePath].self, from: json) == [path])
        #expect(String(data: json, encoding: .utf8) != nil)
    }

    @Test("Text for a terminal contains nothing that would control it")
    func escaping() {
        #expect(BytePath("a\u{1B}[2Jb").description == "a\\x1B[2Jb")
        #expect(BytePath("a\nb\t").description == "a\\x0Ab\\x09")
        #expect(BytePath("\u{202E}cod").description == "\\xE2\\x80\\xAEcod")
        #expect(BytePath("\u{9B}1m").description == "\\xC2\\x9B1m")
        #expect(BytePath("a\\x41").description == "a\\x5Cx41")
        #expect(BytePath("Grüße 漫画").description == "Grüße 漫画")
    }

    @Test("Escaping is reversible for any bytes")
    func roundTrip() throws {
        var random = SeededGenerator(for: "BytePath.roundTrip")
        let alphabet: [UInt8] = Array("ab\\x41/.".utf8) + [0xC3, 0xBC, 0xE2, 0x80, 0xAE, 0xF0, 0x9F, 0xFF, 0x1B, 0x0A]
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            #expect(BytePath.unescape(BytePath.escape(bytes)) == bytes, "\(bytes)")
        }
    }

    @Test("A single backslash and an incomplete escape are read literally")
    func unescaping() {
        #expect(BytePath.unescape("\\") == Array("\\".utf8))
        #expect(BytePath.unescape("\\y41") == Array("\\y41".utf8))
        #expect(BytePath.unescape("\\xZZ") == Array("\\xZZ".utf8))
        #expect(BytePath.unescape("\\xC3\\xBC") == Array("ü".utf8))
    }

    @Test("Within means at or below, comparing whole names")
    func within() {
        #expect(BytePath("/a").isWithin("/a"))
        #expect(BytePath("/a/b").isWithin("/a"))
        #expect(!BytePath("/ab").isWithin("/a"))
        #expect(!BytePath("/a").isWithin("/a/b"))
        #expect(!BytePath("/a").isWithin("/ab"))
        #expect(BytePath("/a").isWithin("/"))
        #expect(BytePath("/").isWithin("/"))
        #expect(BytePath("a/b").isWithin(""))
        #expect(!BytePath("/a/b").isWithin(""))
        #expect(!BytePath("a").isWithin("/"))
    }

    @Test("The path relative to a folder, or nil")
    func relative() {
        #expect(BytePath("/a/b/c").relative(to: "/a") == "b/c")
        #expect(BytePath("/a").relative(to: "/a") == "")
        #expect(BytePath("/ab").relative(to: "/a") == nil)
        #expect(BytePath("/a").relative(to: "/") == "a")
        #expect(BytePath("a/b").relative(to: "") == "a/b")
    }

    @Test("However it was built, a path equals one parsed from its bytes")
    func equivalence() {
        // Not contiguous, to avoid the fast path.
        func plainly(_ bytes: [UInt8]) -> BytePath { BytePath(bytes: bytes.lazy.filter { _ in true }) }
        let letters = Array("a/b\0".utf8)
        var all: [[UInt8]] = [[]]
        for _ in 0..<4 { all = [[]] + all.flatMap { some in letters.map { some + [$0] } } }
        #expect(all.allSatisfy { BytePath(bytes: $0) == plainly($0) })
        let paths = Set(all.map(plainly))
        for left in paths {
            #expect(left.name == left.components.last.map(Array.init) ?? [])
            #expect(plainly(left.parent.bytes) == left.parent)
            left.withCString { #expect(String(cString: $0) == left.text) }
            for right in paths where !left.isEmpty && !right.isEmpty {
                #expect(left.appending(right) == plainly(left.bytes + Array("/".utf8) + right.bytes))
                if let rest = left.relative(to: right) { #expect(plainly(rest.bytes) == rest) }
            }
        }
    }

    @Test("Parent, name and joining are consistent")
    func joining() {
        #expect(BytePath("/a").parent == "/")
        #expect(BytePath("a").parent == "")
        #expect(BytePath("/a/b").parent == "/a")
        #expect(BytePath("/").name == [])
        #expect(BytePath("/a/ü").nameText == "ü")
        #expect(BytePath("/a").appending("b/c") == "/a/b/c")
        #expect(BytePath("/").appending("b") == "/b")
        #expect(BytePath("").appending("b") == "b")
        #expect(BytePath("a").appending("") == "a")
    }

    @Test(
        "A name is split at its last dot",
        arguments: [
            ("a/photo.jpg", "photo", "jpg"), ("archive.tar.gz", "archive.tar", "gz"), (".bashrc", ".bashrc", nil),
            (".config.yaml", ".config", "yaml"), ("name.", "name.", nil), ("name", "name", nil),
            ("a.b/name", "name", nil),
            ("..", "..", nil), ("", "", nil),
        ] as [(String, String, String?)])
    func stems(path: String, stem: String, suffix: String?) {
        let found = BytePath(path).stemAndExtension
        #expect(found.stem == Array(stem.utf8))
        #expect(found.extension == suffix.map { Array($0.utf8) })
    }

    @Test("Paths are ordered by their bytes")
    func order() {
        #expect(([BytePath("b"), "a/b", "a", "B"]).sorted() == ["B", "a", "a/b", "b"])
    }
}
