import Foundation
import Platform
import TestSupport
import Testing

/// `tk journey`: what it prints, and its exit codes.
@Suite("tk journey")
struct JourneyCommandTests {
    @Test("A draft is started, moved and made final; refusals name the remedy")
    func wholeWay() throws {
        let fixture = try CommandFixture()
        try fixture.write("essay.md", "We met.\n")
        #expect(try fixture.tk(["journey", "essay.md"]).output.contains("stage         canvas\n"))
        let dry = try fixture.tk(["journey", "start", "essay.md", "--type", "blog_personal", "--dry-run"])
        #expect(dry.status == 0 && dry.output.contains("draft, early"))
        #expect(try fixture.tk(["journey", "essay.md"]).output.contains("canvas"))
        #expect(try fixture.tk(["journey", "start", "essay.md", "--type", "blog_personal"]).status == 0)
        let again = try fixture.tk(["journey", "start", "essay.md"])
        #expect(again.status == 1 && again.errors.contains("go back to the canvas first"))
        #expect(try fixture.tk(["journey", "final", "essay.md"]).errors.contains("advance to revise first"))
        for place in ["draft, middle", "draft, late", "revise"] {
            #expect(try fixture.tk(["journey", "advance", "essay.md"]).output.contains(place))
        }
        let final = try Answer(parsing: fixture.tk(["journey", "final", "essay.md", "--json"]).output)
        #expect(final["stage"].text == "final" && final["story_type"].text == "blog_personal")
        #expect(final["draft"].text == "essay.md" && final["draft_stage"].text == "late")
        #expect(final["received"].number == 0 && final["open"].number == 0 && final["cycle"].number == 0)
        #expect(try fixture.tk(["journey", "back", "essay.md"]).output.contains("revise"))
        #expect(try fixture.tk(["journey", "show", "essay.md"]).output.contains("blog_personal"))
    }

    @Test("Advisors hear the stage that a draft has come to, unless one is named; a final text is not sent")
    func feedback() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("essay.md", sampleDraft)
        func expectSent(_ stage: String?, _ arguments: [String] = []) throws {
            let before = stub.requests.count
            let result = try fixture.tk(["suggest", "essay.md", "--json"] + arguments)
            let sent = stub.requests.dropFirst(before).map(\.body)
            #expect(result.status == 0 && sent.count == 1, "\(result)")
            #expect(sent.allSatisfy { $0.contains("DRAFT STAGE") == (stage != nil) })
            #expect(sent.allSatisfy { $0.contains("DRAFT STAGE: \(stage?.uppercased() ?? "")") == (stage != nil) })
            #expect(try Answer(parsing: result.output)["metadata"]["stage"].text == stage ?? "")
        }
        try expectSent(nil)
        _ = try fixture.tk(["journey", "start", "essay.md"])
        try expectSent("early")
        try expectSent("late", ["--stage", "late"])
        _ = try fixture.tk(["journey", "advance", "essay.md"])
        try expectSent("middle")
        for _ in 0..<3 { _ = try fixture.tk(["journey", "advance", "essay.md"]) }
        let before = stub.requests.count
        let final = try fixture.tk(["suggest", "essay.md"])
        #expect(final.status == 0 && final.output.contains("utilized"), "\(final)")
        #expect(final.errors.contains("the text is final"), "\(final)")
        #expect(try fixture.tk(["suggest", "essay.md", "--no-quick"]).status == 1)
        #expect(stub.requests.count == before)
        try expectSent("early", ["--stage", "early"])
        try fixture.write(".tk/reviews/essay.md.json", "{}")
        #expect(try fixture.tk(["suggest", "essay.md"]).errors.contains("warning"))
    }

    @Test(
        "Wrong calls",
        arguments: [
            (["none.md"], 1, "there is no file"), (["."], 1, "is not a file"),
            (["start", "essay.md", "--type", "blog_personl"], 1, "blog_personal"), (["advance"], 64, "draft"),
            (["start", "essay.md", "--kind", "x"], 64, "--kind"), ([], 64, "draft"),
        ] as [([String], Int32, String)])
    func wrong(_ arguments: [String], _ status: Int32, _ message: String) throws {
        let fixture = try CommandFixture()
        try fixture.write("essay.md", "We met.\n")
        let result = try fixture.tk(["journey"] + arguments)
        #expect(result.status == status && result.errors.contains(message), "\(result)")
        #expect(try fixture.tk(["journey", "essay.md"]).output.contains("canvas"))
    }
}
