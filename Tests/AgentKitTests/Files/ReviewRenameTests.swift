import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// A review follows its draft: findings, answers and skips, whatever is renamed, and when.
@Suite("Reviews of renamed drafts", .ownThreads)
struct ReviewRenameTests {
    static let rules = """
        - rule: Review
          in: drafts
          on: [arrived, changed, renamed]
          settle: 100ms
          do: review
        - rule: Put away
          in: drafts
          on: removed
          settle: 100ms
          do: review
        """
    static let text = "We met in order to talk.\n\nWe stayed due to the fact that it rained.\n"

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// In the folder of `part/essay.md`; the agent comes to rest after each.
        var steps: [String]
        var draft = "part/novel.md"
        /// Whether the agent is stopped meanwhile.
        var isStopped = false
        /// Whether the old draft keeps its review.
        var isCopy = false
        /// What is left under the old name.
        var remains: [String] = []
        /// Whether `part/novel.md` has a review of its own before.
        var isTaken = false
    }

    static let cases = [
        Case(testDescription: "the draft", steps: ["mv essay.md novel.md"]),
        Case(
            testDescription: "the sidecar, then the draft",
            steps: ["mv essay.review.md novel.review.md", "mv essay.md novel.md"]),
        Case(
            testDescription: "the draft, then what is left of the sidecar",
            steps: ["mv essay.md novel.md", "mv -f essay.review.md novel.review.md || true"]),
        Case(testDescription: "both at once", steps: ["mv essay.md novel.md; mv essay.review.md novel.review.md"]),
        Case(
            testDescription: "both, over another draft",
            steps: ["mv -f essay.md novel.md; mv -f essay.review.md novel.review.md"], isTaken: true),
        Case(
            testDescription: "into another folder", steps: ["mkdir ../other; mv essay.md ../other/novel.md"],
            draft: "other/novel.md"),
        Case(
            testDescription: "the folder", steps: ["mv ../part ../other"], draft: "other/essay.md"),
        Case(
            testDescription: "to another format", steps: ["mv essay.md novel.txt"], draft: "part/novel.txt"),
        Case(testDescription: "while no agent runs", steps: ["mv essay.md novel.md"], isStopped: true),
        Case(
            testDescription: "both, while no agent runs",
            steps: ["mkdir ../other; mv essay.md essay.review.md ../other"], draft: "other/essay.md", isStopped: true),
        Case(
            testDescription: "and changed at once", steps: ["mv essay.md novel.md; echo More. >> novel.md"]),
        Case(
            testDescription: "and changed, while no agent runs",
            steps: ["mkdir ../other; mv essay.md ../other/novel.md; echo More. >> ../other/novel.md"],
            draft: "other/novel.md", isStopped: true),
        Case(
            testDescription: "by an editor that makes a new file",
            steps: ["cp essay.md novel.md; echo More. >> novel.md; rm essay.md"], remains: ["essay.md.json"]),
        Case(
            testDescription: "by save-as", steps: ["(echo Before.; cat essay.md) > novel.md"], isCopy: true),
        Case(testDescription: "over another draft", steps: ["mv essay.md novel.md"], isTaken: true),
    ]

    @Test("Findings, answers and skips follow", arguments: cases)
    func follows(_ what: Case) async throws {
        let steward = try await reviewed()
        let old = try ["essay.review.md", ".tk/reviews/essay.md.json"].map { try read(steward, "part/\($0)") }
        if what.isTaken {
            try steward.drop("drafts/part/novel.md", "It was at the the end.\n")
            try await holds(steward, "part/novel.review.md", "1 finding.")
        }
        if what.isStopped { try await steward.stop() }
        for step in what.steps {
            try steward.shell(["sh", "-c", "cd Steward/drafts/part && \(step)"]).check()
            if !what.isStopped { try steward.wait() }
        }
        if what.isStopped { try await steward.start() }
        let sidecar = what.draft.replacing(".md", with: "") + ".review.md"
        try await holds(steward, sidecar, "1 finding, 1 skipped.")
        let name = try #require(what.draft.split(separator: "/").last)
        let head = "<!-- steward review 1 of \(name) -->\n# Review of \(name)\n"
        #expect(try read(steward, sidecar).hasPrefix(head))

        let names = try steward.files("drafts").map(\.nameText).filter { $0.hasPrefix("essay") }
        if what.isCopy {
            #expect(names.count == 5, "\(names)")
            #expect(
                try ["essay.review.md", ".tk/reviews/essay.md.json"].map { try read(steward, "part/\($0)") }
                    == old)
        } else if name != "essay.md" {
            #expect(Set(names).isSubset(of: what.remains), "nothing else is left under the old name: \(names)")
        }
        let output = what.draft.replacing("/", with: "/.tk/reviews/") + ".quickfix"
        #expect(try steward.exists(BytePath("drafts/\(output)")))
        let kept = try steward.files("drafts").filter { $0.nameText.contains("novel.md.json.") }
        #expect(kept.count == (what.isTaken ? 1 : 0), "what another draft's review held is kept, once: \(kept)")

        // The review goes on: an answer reaches the draft under its name.
        let text = try read(steward, sidecar)
        try steward.drop(BytePath("drafts/\(sidecar)"), text.replacingOccurrences(of: "- [ ]", with: "- [x]"))
        try await holds(steward, sidecar, "No findings, 1 accepted, 1 skipped.")
        #expect(try read(steward, what.draft).contains("We met to talk.\n"))
        if what.isCopy { #expect(try steward.read("drafts/part/essay.md") == Self.text) }
        try await steward.stop()
    }

    @Test("Ticks that nobody has read yet move along") func unreadTicks() async throws {
        let steward = try await reviewed()
        try await steward.stop()
        try steward.shell([
            "sh", "-c", "cd Steward/drafts/part && sed -i 's/- \\[ \\]/- [x]/' essay.review.md && mv essay.md novel.md",
        ]).check()
        try await steward.start()
        try await holds(steward, "part/novel.review.md", "No findings, 1 accepted, 1 skipped.")
        #expect(try steward.read("drafts/part/novel.md").hasPrefix("We met to talk.\n"))
        #expect(try !steward.exists("drafts/part/essay.review.md"))
        try await steward.stop()
    }

    @Test("A file of one's own with the sidecar's name stays, and so does the review") func collision() async throws {
        let steward = try await reviewed()
        let before = try steward.read("drafts/part/.tk/reviews/essay.md.json")
        try steward.drop("drafts/part/novel.review.md", "My own.\n")
        try steward.wait()
        try steward.shell(["sh", "-c", "cd Steward/drafts/part && mv essay.md novel.md"]).check()
        try await steward.until("the review says what is in the way") {
            try steward.status().parked.contains { $0.problem.contains("novel.review.md exists already") }
        }
        #expect(try steward.read("drafts/part/novel.review.md") == "My own.\n")
        #expect(try steward.read("drafts/part/.tk/reviews/essay.md.json") == before)
        #expect(try steward.exists("drafts/part/essay.review.md"))
        try steward.shell(["mv", "Steward/drafts/part/novel.review.md", "Steward/drafts/mine.md"]).check()
        try steward.run(["retry"]).check()
        try await holds(steward, "part/novel.review.md", "1 finding, 1 skipped.")
        try await steward.stop()
    }

    /// A draft whose second finding is skipped.
    private func reviewed() async throws -> AgentFixture {
        let steward = try AgentFixture.inside()
        try steward.rule("10-review.yaml", Self.rules)
        try await steward.start()
        try steward.drop("drafts/part/essay.md", Self.text)
        try await holds(steward, "part/essay.review.md", "2 findings.")
        let text = try steward.read("drafts/part/essay.review.md")
        let second = try #require(text.range(of: "- [ ]", options: .backwards))
        try steward.drop("drafts/part/essay.review.md", text.replacingCharacters(in: second, with: "- [-]"))
        try await holds(steward, "part/essay.review.md", "1 finding, 1 skipped.")
        return steward
    }

    private func read(_ steward: AgentFixture, _ name: String) throws -> String {
        try steward.read(BytePath("drafts/\(name)"))
    }

    private func holds(_ steward: AgentFixture, _ sidecar: String, _ text: String) async throws {
        let path = BytePath("drafts/\(sidecar)")
        try await steward.until("\(sidecar) holds: \(text)") {
            try steward.exists(path) && steward.read(path).contains(text)
        }
        try steward.wait()
    }
}
