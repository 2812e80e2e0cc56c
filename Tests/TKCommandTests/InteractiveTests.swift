import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Answers given in `--interactive` are never lost, whatever happens to the file.
@Suite("Interactive answers", .timeLimit(.minutes(30)))
struct InteractiveTests {
    private let fixture: CommandFixture
    private static let lock = ".draft.md.swp"

    init() throws {
        fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
    }

    private var isRemembered: Bool {
        get throws { try FileStatus.of(fixture.home.path.appending(".tk/rule-answers.json")) != nil }
    }

    private func remove(_ name: BytePath) throws { try Durable.remove(fixture.home.path.appending(name.text)) }

    @Test("A draft open in an editor is rejected before anything is asked or paid for")
    func openFromTheStart() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        try fixture.write(".draft.md.swp", "")
        let result = try fixture.tk(["suggest", "draft.md", "--interactive"], input: "a\na\na\n")
        #expect(result.status == 1 && result.errors.hasPrefix("tk: draft.md is open in an editor (.draft.md.swp"))
        #expect(result.errors.split(separator: "\n").count == 1 && stub.requests.isEmpty)
    }

    @Test("If the draft changed meanwhile, accepted changes are applied where their words are now")
    func changedMeanwhile() async throws {
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--quick", "--interactive"])
        try await talk.hears("1/3 [a]ccept")
        try fixture.write("draft.md", "A line that was added.\n\n" + sampleDraft.replacing("data", with: "all data"))
        try talk.types("a\ne\nis\ns\n")
        let result = try talk.ends()
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try fixture.read("draft.md")
                == "A line that was added.\n\n# Manual\n\nThe system can be used to process all data. It is built in order to help.\n"
        )
        let told = try #require(result.errors.range(of: "Wrote draft.md."))
        let count = try #require(result.errors.range(of: "2 of 2 accepted applied, 1 skipped, 0 left open."))
        #expect(told.upperBound <= count.lowerBound, "what is said to be applied has been written")
        #expect(result.errors.contains("has changed; locating") && result.errors.contains("Wrote"))
    }

    @Test("Changes that can no longer be placed are listed with their words")
    func gone() async throws {
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--quick", "--interactive"])
        try await talk.hears("1/3 [a]ccept")
        try fixture.write("draft.md", "# Manual\n\nIt was built in order to help.\n")
        try talk.types("e\nemployed\ns\na\n")
        let result = try talk.ends()
        #expect(result.status == 0 && result.errors.contains("1 of 2 accepted applied"), "\(result.errors)")
        #expect(result.errors.contains("“utilized” is gone, so “employed” was left out"), "\(result.errors)")
        #expect(try fixture.read("draft.md") == "# Manual\n\nIt was built to help.\n")
    }

    @Test("An editor that opens the draft meanwhile is waited for")
    func openedMeanwhile() async throws {
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--quick", "--interactive"])
        try await talk.hears("1/3 [a]ccept")
        try fixture.write(".draft.md.swp", "")
        try talk.types("a\na\na\n")
        try await talk.hears("[r]etry, [q]uit?")
        #expect(try fixture.read("draft.md") == sampleDraft && !talk.errors.contains("applied"))
        try remove(".draft.md.swp")
        try talk.types("r\n")
        let result = try talk.ends()
        #expect(result.status == 0 && result.errors.contains("3 of 3 accepted applied"), "\(result.errors)")
        #expect(try fixture.read("draft.md").contains("can be used"))
    }

    @Test("If writing remains impossible, the changes are printed as a diff, and no answer counts")
    func printed() async throws {
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--quick", "--interactive"])
        try await talk.hears("1/3 [a]ccept")
        try fixture.write(".draft.md.swp", "")
        try talk.types("e\nemployed\ns\ns\n")
        try await talk.hears("[r]etry, [q]uit?")
        let result = try talk.ends()
        #expect(result.status == 1 && !result.errors.contains("applied"), "\(result.errors)")
        #expect(try fixture.read("draft.md") == sampleDraft && !isRemembered)
        try remove(".draft.md.swp")
        try fixture.write("changes.diff", result.output)
        #expect(try fixture.shell("patch -p1 < changes.diff").status == 0)
        #expect(try fixture.read("draft.md") == sampleDraft.replacing("utilized", with: "employed"))
    }

    @Test("A removed draft leaves the diff too")
    func removed() async throws {
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--quick", "--interactive"])
        try await talk.hears("1/3 [a]ccept")
        try remove("draft.md")
        try talk.types("a\nq\n")
        let result = try talk.ends()
        #expect(result.status == 1 && result.output.contains("+The system can be used"), "\(result.errors)")
    }

    @Test("A model adapts a change to words that were changed meanwhile")
    func carriedOver() async throws {
        let draft = "First, the system can be utilized to process data in many ways. A second sentence.\n"
        let stub = try MessagesStub { body in
            if body.contains("A writer has accepted a suggestion") {
                return
                    #"{"applies":true,"passage":"First, the system processes our data in many ways. A second sentence."}"#
            }
            return #"{"suggestions":[{"quote":"the system can be utilized to process data in many ways","#
                + #""replacement":"the system processes data in many ways","type":"improve","category":"clarity","#
                + #""priority":2,"confidence":0.9,"reason":"Shorter."}]}"#
        }
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", draft)
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--no-quick", "--interactive"])
        try await talk.hears("1/1 [a]ccept")
        try fixture.write(
            "draft.md", "First, the system can be utilised to process our data in many ways. A second sentence.\n")
        try talk.types("a\n")
        let result = try talk.ends()
        #expect(result.status == 0 && result.errors.contains("1 of 1 accepted applied"), "\(result.errors)")
        #expect(result.errors.contains("had changed; a model has put"), "\(result.errors)")
        #expect(
            try fixture.read("draft.md") == "First, the system processes our data in many ways. A second sentence.\n")
    }
}
