import Foundation
import Platform
import TKCore
import TestSupport
import Testing

/// Rules that are always skipped in `--interactive` mute themselves; the user can see and undo that.
@Suite("Muted rules", .timeLimit(.minutes(30)))
struct MutedRuleTests {
    private let fixture: CommandFixture

    init() throws { fixture = try CommandFixture() }

    /// Goes through drafts with one wordy phrase each, no two alike, with the same answer.
    private func answer(_ answer: String, _ numbers: Range<Int>) throws -> [CommandFixture.Result] {
        try numbers.map { number in
            let name = BytePath("draft-\(number).md")
            try fixture.write(name, "The gear number \(number) can be utilized at sea.\n")
            return try fixture.tk(["suggest", "--quick", "--interactive", name.text], input: answer)
        }
    }

    private func found(_ arguments: [String] = []) throws -> Answer {
        let result = try fixture.tk(["suggest", "--quick", "--json", "draft.md"] + arguments)
        return try Answer(parsing: result.output)
    }

    @Test("Eight skips mute a rule, which is reported once, shown by config show, and undone by config unmute")
    func mutes() throws {
        try fixture.write("draft.md", sampleDraft)
        #expect(try found()["suggestions"].items.contains { $0["rule"].text == "wordy" })
        let results = try answer("s\n", 0..<8)
        #expect(results.allSatisfy { $0.status == 0 })
        #expect(results.dropLast().allSatisfy { !$0.errors.contains("muted") })
        #expect(results.last?.errors.contains("`tk config unmute wordy`") == true, "\(results.last?.errors ?? "")")

        let quiet = try found()
        #expect(quiet["suggestions"].items.map { $0["rule"].text } == ["repeated-word"])
        #expect(quiet["metadata"]["muted_rules"].items.map(\.text) == ["wordy"])
        let verbose = try fixture.tk(["pipe", "--quick", "--verbose", "draft.md"])
        #expect(verbose.output.contains("utilized") && verbose.errors.contains("muted rules: wordy"))
        #expect(try fixture.tk(["config", "show"]).output.contains("muted_rules     wordy"))
        let shown = try Answer(parsing: try fixture.tk(["config", "show", "--json"]).output)
        #expect(shown["muted_rules"].items.map(\.text) == ["wordy"])

        let wrong = try fixture.tk(["config", "unmute", "wrody"])
        #expect(wrong.status == 1 && wrong.errors.contains("`wordy`"))
        #expect(try fixture.tk(["config", "unmute", "wordy"]).output == "Heard again: wordy.\n")
        #expect(try found()["suggestions"].items.contains { $0["rule"].text == "wordy" })
        #expect(try fixture.tk(["config", "unmute", "--all"]).output == "No rule was muted.\n")
    }

    @Test("Occasional acceptance keeps the rule")
    func kept() throws {
        _ = try answer("a\n", 0..<1)
        _ = try answer("s\n", 1..<10)
        try fixture.write("draft.md", sampleDraft)
        #expect(try found()["metadata"]["muted_rules"].items.isEmpty)
    }

    @Test("Reviewing the same draft repeatedly counts once")
    func again() throws {
        for _ in 0..<10 { _ = try answer("s\n", 0..<1) }
        #expect(try fixture.tk(["config", "show"]).output.contains("muted_rules") == false)
    }

    @Test("Unreadable answers cause a warning, and the review continues")
    func damaged() throws {
        try fixture.write(".tk/rule-answers.json", "{")
        let result = try answer("a\n", 0..<1)[0]
        #expect(result.status == 0 && result.errors.contains("rule-answers.json:1"))
        #expect(try fixture.read("draft-0.md").contains("used"), "what was accepted is written")
    }

    @Test("--ignore omits rules once, replacing the setting")
    func ignored() throws {
        try fixture.write("draft.md", sampleDraft)
        #expect(try found(["--ignore", "wordy"])["suggestions"].items.map { $0["rule"].text } == ["repeated-word"])
        #expect(try fixture.tk(["config", "set", "ignored_rules", "repeated-word"]).status == 0)
        #expect(try Set(found()["suggestions"].items.map { $0["rule"].text }) == ["wordy"])
        #expect(try found(["--ignore", ""])["suggestions"].items.count == 3)
    }
}
