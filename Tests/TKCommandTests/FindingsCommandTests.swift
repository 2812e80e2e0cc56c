import Foundation
import Platform
import TestSupport
import Testing

/// Findings of other reviewers by way of the built `tk`, and copies for people who mark up by hand.
@Suite("Findings of others, through the built tk", .timeLimit(.minutes(30))) struct FindingsCommandTests {
    private static let vale = #"""
        {"stdin.md":[
        {"Action":{"Name":"replace","Params":["use"]},"Check":"House.Words","Line":3,"Message":"Use “use”.","Severity":"error","Span":[19,26],"Match":"utilized"},
        {"Action":{"Name":""},"Check":"House.Gone","Line":9,"Message":"Gone?","Severity":"warning","Span":[1,4],"Match":"gone"}],
        "docs/other.md":[{"Action":{"Name":""},"Check":"House.Words","Line":1,"Message":"Hm.","Severity":"error","Span":[1,2],"Match":"A"}]}
        """#

    private func fixture() throws -> CommandFixture {
        let tk = try CommandFixture()
        try tk.write("draft.md", sampleDraft)
        return tk
    }

    @Test("A report goes into the sidecar; what has no place is printed, and nothing is lost") func report() throws {
        let tk = try fixture()
        let dry = try tk.tk(["findings", "add", "draft.md", "--dry-run"], input: Self.vale)
        #expect(dry.output == "draft.md: 1 finding would be added to draft.review.md\n" && dry.status == 1)
        #expect(throws: (any Error).self) { try tk.read("draft.review.md") }
        let result = try tk.tk(["findings", "add", "draft.md"], input: Self.vale)
        #expect(result.status == 1 && result.output == "draft.md: 1 finding added to draft.review.md\n")
        #expect(
            result.errors == """
                tk: not added: vale House.Gone 9:1 “gone”: Gone?: these words are not in the draft
                tk: not added: 1 about other files (docs/other.md)

                """)
        let sidecar = try tk.read("draft.review.md")
        #expect(
            sidecar.contains("** vale · rephrase · P1 · L3\n\n  > utilized\n\n  ```text\n  use\n  ```\n"), "\(sidecar)")
        #expect(try tk.read("draft.md") == sampleDraft)
        let again = try tk.tk(
            ["findings", "add", "./draft.md", "--json", "--from", "vale", "--author", "house"], input: Self.vale)
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any], "\(again.errors)")
        let added = try #require(document["added"] as? [[String: Any]])
        #expect(document["version"] as? String == "1.0" && document["known"] as? Int == 0)
        #expect(added.first?["author"] as? String == "vale" && added.first?["also_by"] as? [String] == ["house"])
        #expect((document["unplaced"] as? [[String: Any]])?.count == 2)
        let fine = try tk.tk(["findings", "add", "draft.md"], input: #"{"draft.md":[]}"#)
        #expect(fine.status == 0 && fine.output.hasPrefix("draft.md: 0 findings added"))
    }

    @Test(
        "Wrong use and reports that cannot be read",
        arguments: [
            (["findings", "add", "draft.md", "--from", "xml"], "", 64, "--from"),
            (["findings", "add", "-"], "{}", 64, "standard input is the report"),
            (["findings", "add", "draft.md", "--author", " "], "{}", 64, "the author's name is empty"),
            (["findings", "add", "draft.md"], "No problems.", 1, "none of the known formats"),
            (["findings", "add", "gone.md"], "{}", 1, "gone.md"),
            (["export", "--criticmarkup"], "text", 64, "needs the draft's file"),
            (["export", "--criticmarkup", "draft.md", "--output", "draft.md"], "", 1, "is the draft itself"),
        ] as [([String], String, Int32, String)])
    func refused(_ arguments: [String], _ input: String, _ status: Int32, _ message: String) throws {
        let result = try fixture().tk(arguments, input: input)
        #expect(result.status == status && result.errors.contains(message), "\(result)")
    }

    @Test("A copy with CriticMarkup comes back the same, and with what somebody has added to it") func copy() throws {
        let tk = try fixture()
        _ = try tk.tk(["findings", "add", "draft.md"], input: Self.vale)
        #expect(try tk.tk(["export", "--criticmarkup", "draft.md", "-o", "copy.md"]).status == 0)
        let copy = try tk.read("copy.md")
        #expect(
            copy == sampleDraft.replacing("utilized", with: "{~~utilized~>use~~}{>>@vale: Use “use”. (House.Words)<<}"))
        let same = try tk.shell("tk export --criticmarkup draft.md | tk findings add draft.md")
        #expect(same.output == "draft.md: 0 findings added to draft.review.md, 1 known already\n" && same.status == 0)
        try tk.write("copy.md", copy.replacing("was was", with: "{--was --}was{>>@ann: Twice.<<}"))
        let more = try tk.shell("tk findings add draft.md --author bob < copy.md")
        #expect(more.output.hasPrefix("draft.md: 3 findings added"), "\(more)")
        #expect(try tk.read("draft.review.md").contains("bob · "))
    }

    @Test("Pipe --apply refuses what the gate refuses, says why, and applies the rest") func applying() throws {
        let tk = try CommandFixture(try ProposalTests.stub())
        try tk.write("clean.md", ProposalTests.draft)
        let result = try tk.tk(["pipe", "--apply", "clean.md"])
        #expect(result.status == 1, "\(result.errors)")
        #expect(
            result.errors.contains(
                "tk: clean.md:9:1: refused: the proposal for “rm --utilize /tmp/x” would change code"))
        #expect(result.errors.contains("would change the front matter"))
        #expect(
            try tk.read("clean.md")
                == ProposalTests.draft.replacing("in order to clean", with: "to clean")
                .replacing("See [the", with: "Read [the"))
        try tk.write("plain.md", "We met in order to talk.\n")
        #expect(try tk.tk(["pipe", "--apply", "--quick", "plain.md"]).status == 0)
    }

    @Test("On a terminal findings are shown as they arrive, each once") func arriving() async throws {
        let stub = try MessagesStub()
        let tk = try CommandFixture(stub)
        try tk.write("draft.md", sampleDraft)
        stub.fail(.stream([], ending: .held), times: 1)
        let talk = try Conversation(tk, ["suggest", "draft.md"], onTerminal: true)
        defer { talk.breaksOff() }
        try await talk.hears("was was")
        let whole = try Conversation(tk, ["suggest", "draft.md"], onTerminal: true).ends()
        for words in ["was was", "- utilized", "+ used", "Say which data."] {
            #expect(whole.output.components(separatedBy: words).count == 2, "\(words) in \(whole.output)")
        }
        let quick = try #require(whole.output.range(of: "was was"))
        let advice = try #require(whole.output.range(of: "Say which data."))
        #expect(quick.lowerBound < advice.lowerBound && whole.output.contains(/draft\.md.*: \d suggestions/))
        let file = try tk.tk(["suggest", "draft.md"]).output
        #expect(file.hasPrefix("draft.md: ") && file.components(separatedBy: "draft.md").count == 2, "\(file)")
    }
}
