import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Steps that wait for confirmation", .ownThreads)
struct ConfirmTests {
    private func asking(
        _ step: String = "{ text: \"Trash {{ file.name }}?\" }", mayBeKilled: Bool = false
    ) async throws -> AgentFixture {
        let steward = try mayBeKilled ? AgentFixture() : .inside()
        try steward.rule(
            "- rule: R\n  in: drafts\n  settle: 100ms\n  on: arrived\n  do:\n    - confirm: \(step)\n    - trash\n")
        try await steward.start()
        return steward
    }

    private struct Question: Decodable {
        let job: String
        let text: String
    }

    private func questions(_ steward: AgentFixture) throws -> [Question] {
        let output = try steward.run(["confirm", "--json"]).check().output
        return try JSONDecoder().decode([Question].self, from: Data(output.utf8))
    }

    private func asked(_ steward: AgentFixture, _ name: String = "a.md") async throws -> Question {
        try steward.drop(BytePath("drafts").appending(name), "A\n")
        try steward.wait()
        let found = try questions(steward)
        #expect(found.count == 1)
        return try #require(found.first)
    }

    @Test("Nothing is done until somebody confirms, even after a kill; then the job continues")
    func confirmed() async throws {
        let steward = try await asking(mayBeKilled: true)
        let question = try await asked(steward)
        #expect(question.text == "Trash a.md?")
        #expect(try steward.exists("drafts/a.md"))
        try await steward.kill9()
        try await steward.start()
        try steward.wait()
        #expect(try steward.exists("drafts/a.md"))
        #expect(try steward.run(["status"]).check().output.contains("asking you"))
        try steward.run(["confirm", String(question.job.prefix(12))]).check()
        try steward.wait()
        #expect(try !steward.exists("drafts/a.md"))
        #expect(try questions(steward).isEmpty)
        // There is nothing left to answer with a second yes.
        #expect(try steward.run(["confirm", question.job]).status == 64)
    }

    @Test("A no ends the job, and the file stays")
    func declined() async throws {
        let steward = try await asking()
        let question = try await asked(steward)
        try steward.run(["decline", question.job]).check()
        try steward.wait()
        #expect(try steward.exists("drafts/a.md"))
        #expect(try questions(steward).isEmpty)
    }

    @Test("Without an agent the answer is kept for the next one")
    func withoutAgent() async throws {
        let steward = try await asking()
        let question = try await asked(steward)
        try await steward.stop()
        try steward.run(["confirm", question.job]).check()
        #expect(try steward.exists("drafts/a.md"))
        try await steward.start()
        try steward.wait()
        #expect(try !steward.exists("drafts/a.md"))
    }

    @Test("If a file changes before the answer, the question is asked again")
    func changed() async throws {
        let steward = try await asking()
        let first = try await asked(steward)
        try steward.drop("drafts/a.md", "other\n")
        try steward.wait()
        let second = try #require(try questions(steward).first)
        #expect(second.job != first.job)
        #expect(try steward.run(["confirm", first.job]).status == 64)
        try steward.run(["confirm", "--all", "--rule", "R"]).check()
        try steward.wait()
        #expect(try !steward.exists("drafts/a.md"))
    }

    @Test("No answer means no if the rule sets a time limit")
    func silence() async throws {
        let steward = try await asking("{ text: \"Trash {{ file.name }}?\", within: 300ms }")
        try steward.drop("drafts/a.md", "A\n")
        try await steward.until("the question is over") {
            try steward.run(["log"]).check().output.contains("nobody has answered in time")
        }
        try steward.wait()
        #expect(try steward.exists("drafts/a.md"))
        #expect(try questions(steward).isEmpty)
    }

    @Test(
        "If a command answers, the box in the note is closed; a question asked again is there once")
    func answeredElsewhere() async throws {
        let steward = try await asking("{ text: \"Trash {{ file.name }}?\", note: questions }")
        func lines(_ name: String) throws -> [String] {
            try steward.read("notes/questions.md").split(separator: "\n").map(String.init).filter { $0.contains(name) }
        }
        _ = try await asked(steward)
        // Two lines with the same text, only one of them a question, would make a person answer the wrong one.
        for text in ["other\n", "yet another\n"] {
            let before = try #require(try questions(steward).first)
            try steward.drop("drafts/a.md", text)
            try await steward.until("it is asked anew") {
                try questions(steward).first.map { $0.job != before.job } ?? false
            }
            try await steward.until("the box of before is gone") { try lines("a.md") == ["- [ ] Trash a.md?"] }
        }
        try steward.run(["decline", try #require(try questions(steward).first).job]).check()
        try await steward.until("the box says no") { try lines("a.md") == ["- [-] Trash a.md?"] }
        try steward.drop("drafts/b.md", "B\n")
        try await steward.until("it asks") { try questions(steward).count == 1 }
        try steward.run(["confirm", "--all"]).check()
        try await steward.until("the box says yes") { try lines("b.md") == ["- [x] Trash b.md?"] }
        try await steward.until("the file is in the trash") { try !steward.exists("drafts/b.md") }
        #expect(try steward.exists("drafts/a.md"))
    }

    @Test("A box whose question was answered without an agent is closed by the next one")
    func answeredWithoutAgent() async throws {
        let steward = try await asking("{ text: \"Trash {{ file.name }}?\", note: questions }")
        let question = try await asked(steward)
        try await steward.stop()
        try steward.run(["confirm", question.job]).check()
        try await steward.start()
        try await steward.until("the box says yes") {
            try steward.read("notes/questions.md").contains("- [x] Trash a.md?")
        }
    }

    @Test("A box ticked in the note and saved is a yes")
    func ticked() async throws {
        let steward = try await asking("{ text: \"Trash {{ file.name }}?\", note: questions }")
        _ = try await asked(steward)
        let note = try steward.read("notes/questions.md")
        #expect(note.contains("- [ ] Trash a.md?"))
        try steward.drop("notes/questions.md", note.replacingOccurrences(of: "- [ ]", with: "- [x]"))
        try await steward.until("the file is in the trash") { try !steward.exists("drafts/a.md") }
        #expect(try questions(steward).isEmpty)
    }

    @Test("With a restriction, a tick in a note that others can write does not count, and the reason is given")
    func restricted() async throws {
        let steward = try AgentFixture.inside(configuration: "confirm: { owner: true }")
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              on: arrived
              do:
                - confirm: { text: "Trash {{ file.name }}?", note: questions }
                - trash

            """)
        try await steward.start()
        let question = try await asked(steward)
        let path = steward.path("notes/questions.md")
        chmod(path.text, 0o666)
        let ticked = try steward.read("notes/questions.md").replacingOccurrences(of: "- [ ]", with: "- [x]")
        try steward.drop("notes/questions.md", ticked)
        try await steward.until("it is said why") {
            try steward.run(["log"]).check().output.contains("does not count, because everybody may write it")
        }
        #expect(try questions(steward).map(\.job) == [question.job])
        #expect(try steward.exists("drafts/a.md"))
        chmod(path.text, 0o600)
        try steward.drop("notes/questions.md", ticked + "\n")
        try await steward.until("the file is in the trash") { try !steward.exists("drafts/a.md") }
    }
}
