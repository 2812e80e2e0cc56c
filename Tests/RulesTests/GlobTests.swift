import Platform
import Testing

@Suite("Globs") struct GlobTests {
    @Test(
        "A glob matches",
        arguments: [
            ("*.cbz", "Saga 01.cbz", true), ("*.cbz", "Saga.CBZ", false), ("*.{cbz,cb[r7]}", "x.cb7", true),
            ("*.{cbz,cb[r7]}", "x.cbt", false),
            ("*", "a/b", false), ("**", "a/b", true), ("**/*.png", "x.png", true), ("**/*.png", "a/b/x.png", true),
            ("a/**/z", "a/z", true), ("a/**/z", "a/b/c/z", true), ("a/**/z", "ab/z", false), ("a/**", "a/b/c", true),
            ("a/**", "b/a", false),
            ("?.md", "é.md", true), ("?.md", "ab.md", false), ("[!a-c]x", "dx", true), ("[!a-c]x", "bx", false),
            ("[é-ö]", "ê", true),
            ("\\*", "*", true), ("\\*", "a", false), ("{a,{b,c}d}", "cd", true), ("{a,}b", "b", true), ("", "", true),
            ("[]]", "]", true),
            ("[a\\-z]", "m", false), ("?", "/", false), ("[!x]", "/", false),
        ])
    func aGlobMatches(_ pattern: String, _ name: String, _ expected: Bool) throws {
        #expect(try Glob(pattern).matches(name) == expected)
    }

    @Test("Names that are not UTF-8 match") func namesUtf8() throws {
        let name: [UInt8] = [0x66, 0xFF, 0x6F] + Array(".txt".utf8)
        #expect(try Glob("*.txt").matches(name))
        #expect(try Glob("f?o.txt").matches(name))
        #expect(try Glob("f[!a]o.txt").matches(name))
        #expect(try !Glob("f[a-z]o.txt").matches(name))
    }

    @Test("An error names its position", arguments: [("a{b", 1), ("x[ab", 1), ("[z-a]", 1), ("a\\", 1)])
    func faultNamesCharacter(_ pattern: String, _ offset: Int) {
        do throws(Glob.Fault) {
            _ = try Glob(pattern)
            Issue.record("\(pattern) was read")
        } catch {
            #expect(error.offset == offset)
        }
    }

    @Test("Alternatives cannot explode") func choicesCannotExplode() {
        #expect(throws: Glob.Fault.self) { try Glob(String(repeating: "{a,b}", count: 40)) }
        #expect(throws: Glob.Fault.self) {
            try Glob(String(repeating: "{", count: 400) + "a" + String(repeating: "}", count: 400))
        }
    }

    @Test("Many stars are not slow") func manyStarsSlow() throws {
        let glob = try Glob(String(repeating: "*a", count: 50) + "b")
        #expect(!glob.matches(String(repeating: "a", count: 1_000)))
    }
}
