import Foundation
import Platform
import TestSupport
import Testing

/// `tk words`, and the line about a missing dictionary.
@Suite("tk words")
struct WordsCommandTests {
    @Test("Words are added, listed and removed, the user's and a project's")
    func lists() throws {
        let fixture = try CommandFixture()
        #expect(try fixture.tk(["words"]).output == "")
        #expect(try fixture.tk(["words", "add", "xqzvw", "plovf"]).output.hasPrefix("Added to "))
        #expect(try fixture.shell("mkdir -p p/q && cd p && tk words add --project tharn").status == 0)
        #expect(try fixture.shell("cd p/q && tk words add --project efrafa").status == 0)
        #expect(try fixture.read("p/.tk/words.txt") == "tharn\nefrafa\n")
        #expect(try fixture.tk(["words", "list"]).output == "xqzvw\nplovf\n")
        #expect(try fixture.tk(["words", "remove", "plovf"]).status == 0)
        let left = try Answer(parsing: fixture.tk(["words", "list", "--json"]).output)
        #expect(left["words"].items.map(\.text) == ["xqzvw"])
        #expect(try fixture.tk(["words", "remove", "plovf"]).status == 1)
        #expect(try fixture.tk(["words", "add", "two words"]).status == 1)
    }

    @Test("Drafts below a folder with a list of words are read with it; without a dictionary one line says so")
    func drafts() throws {
        let fixture = try CommandFixture()
        try fixture.home.write("dictionaries/xx_XX.aff", "SET UTF-8\n")
        try fixture.home.write("dictionaries/xx_XX.dic", "1\neins\n")
        let variables = ["DICPATH": fixture.home.path.appending("dictionaries").text]
        func suggest(_ names: String...) throws -> CommandFixture.Result {
            let flags = ["--quick", "--rule", "unknown-word", "--format", "line"]
            return try fixture.tk(["suggest"] + flags + names, variables: variables)
        }
        for name: BytePath in ["project/a.md", "b.md"] { try fixture.write(name, "---\nlang: xx\n---\neins zwei\n") }
        try fixture.write("project/.tk/words.txt", "zwei\n")
        let found = try suggest("project/a.md", "b.md")
        #expect(!found.errors.contains("spelling"))
        #expect(found.output.hasPrefix("b.md:4:6: ") && found.output.hasSuffix("[unknown-word]\n"), "\(found.output)")

        for name: BytePath in ["c.md", "d.md"] { try fixture.write(name, "---\nlang: yy\n---\neins zwei\n") }
        let missing = try suggest("c.md", "d.md").errors.split(separator: "\n").filter { $0.contains("spelling") }
        #expect(missing.count == 1 && missing[0].contains("hunspell-yy"), "\(missing)")
    }
}
