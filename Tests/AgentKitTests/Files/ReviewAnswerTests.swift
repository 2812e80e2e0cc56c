import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// A person's answers in a sidecar, and their effects.
@Suite("Answers to a review", .ownThreads)
struct ReviewAnswerTests {
    static let rule = """
        - rule: Review
          in: drafts
          on: [arrived, changed]
          settle: 300ms
          do:
            - review
        """
    static let before = "We met in order to talk.\n\nThen we went home.\n"
    static let after = "We met to talk.\n\nThen we went home.\n"

    private func steward() async throws -> AgentFixture {
        let steward = try AgentFixture.inside()
        try steward.rule("10-review.yaml", Self.rule)
        try await steward.start()
        return steward
    }

    private func sidecar(_ steward: AgentFixture, holds text: String) async throws {
        try await steward.until("the sidecar holds: \(text)") {
            try steward.exists("drafts/essay.review.md") && steward.read("drafts/essay.review.md").contains(text)
        }
        try steward.wait()
    }

    private func mark(_ steward: AgentFixture, _ mark: String) throws {
        let text = try steward.read("drafts/essay.review.md")
        try steward.drop("drafts/essay.review.md", text.replacingOccurrences(of: "- [ ]", with: "- [\(mark)]"))
    }

    @Test("An answer undone by an editor's old text is open again, and says why")
    func staleSave() async throws {
        let steward = try await steward()
        try steward.drop("drafts/essay.md", Self.before)
        try await sidecar(steward, holds: "1 finding.")
        try mark(steward, "x")
        try await sidecar(steward, holds: "No findings, 1 accepted.")
        #expect(try steward.read("drafts/essay.md") == Self.after)

        try steward.drop("drafts/essay.md", Self.before + "\nA line that the old text got.\n")
        try await sidecar(steward, holds: "1 finding.")
        let text = try steward.read("drafts/essay.review.md")
        #expect(text.contains("a later save has restored the previous words"))
        #expect(text.contains("- [ ] **") && text.contains("\n  > in order to\n"))
        #expect(try steward.run(["log"]).output.contains("1 of the answers had been undone"))

        try mark(steward, "x")
        try await sidecar(steward, holds: "No findings, 1 accepted.")
        #expect(try steward.read("drafts/essay.md") == Self.after + "\nA line that the old text got.\n")
        try steward.drop("drafts/essay.md", "We met to talk, and talked for hours.\n\nThen we went home.\n")
        try await steward.until("the last save is reviewed") {
            try steward.judgements("Review", in: "drafts").filter { $0 == "changed essay.md" }.count >= 2
        }
        try steward.wait()
        #expect(try steward.read("drafts/essay.review.md").contains("No findings, 1 accepted."))
        try await steward.stop()
    }

    @Test("An unknown mark is reported as such, and nothing is done", arguments: ["✓", "y", "v", "*", "yes"])
    func unknownMarks(_ sign: String) async throws {
        let steward = try await steward()
        try steward.drop("drafts/essay.md", Self.before)
        try await sidecar(steward, holds: "1 finding.")
        try mark(steward, sign)
        try await sidecar(steward, holds: "is not an answer, so nothing was done")
        let text = try steward.read("drafts/essay.review.md")
        #expect(text.contains("- [ ] **") && text.contains("\(sign)”"))
        #expect(try steward.read("drafts/essay.md") == Self.before)
        #expect(try steward.run(["log"]).output.contains("1 mark is not an answer"))
        try mark(steward, " x ")
        try await sidecar(steward, holds: "No findings, 1 accepted.")
        #expect(try steward.read("drafts/essay.md") == Self.after)
        try await steward.stop()
    }

    @Test("The sidecar of a read-only draft is writable")
    func readOnlyDraft() async throws {
        let steward = try await steward()
        let aside = try steward.home.write("essay.md", Self.before)
        #expect(chmod(aside.text, 0o444) == 0)
        try steward.shell(["mv", aside.text, steward.path("drafts/essay.md").text]).check()
        try await sidecar(steward, holds: "1 finding.")
        #expect(try FileStatus.of(steward.path("drafts/essay.review.md"))?.mode == 0o644)
        try await steward.stop()
    }

    @Test(
        "The sidecar of a draft that is not UTF-8 says why it is not reviewed",
        arguments: [
            ([0xFF, 0xFE, 0x57, 0x00, 0x65, 0x00], "it is UTF-16"),
            ([0x43, 0x61, 0x66, 0xE9, 0x0A], "it is not UTF-8"),
            ([0x57, 0x00, 0x65, 0x00], "it holds NUL bytes"),
        ] as [([UInt8], String)])
    func otherEncodings(_ bytes: [UInt8], _ reason: String) async throws {
        let steward = try await steward()
        let aside = try steward.home.write("aside.md", bytes)
        try steward.shell(["mv", aside.text, steward.path("drafts/essay.md").text]).check()
        try await sidecar(steward, holds: "This draft is not reviewed: \(reason)")
        try steward.drop("drafts/essay.md", Self.before)
        try await sidecar(steward, holds: "1 finding.")
        #expect(try !steward.read("drafts/essay.review.md").contains("not reviewed"))
        try await steward.stop()
    }

    @Test("The sidecar of a draft that is too long says that it is not reviewed")
    func tooLong() async throws {
        let steward = try await steward()
        let aside = try steward.home.write(
            "aside.md", Array(repeating: UInt8(ascii: "a"), count: (8 << 20) + 1))
        try steward.shell(["mv", aside.text, steward.path("drafts/essay.md").text]).check()
        try await sidecar(steward, holds: "This draft is not reviewed: it is longer than 8 MiB")
        try steward.drop("drafts/essay.md", Self.before)
        try await sidecar(steward, holds: "1 finding.")
        try await steward.stop()
    }

    @Test("A draft is read in its own format: source blocks are not prose")
    func otherSyntax() async throws {
        let steward = try await steward()
        try steward.drop(
            "drafts/essay.adoc", "= Title\n\n" + Self.before + "\n[source,sh]\n----\nWe met in order to talk.\n----\n")
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.adoc.review.md") }
        try steward.wait()
        #expect(try steward.read("drafts/essay.adoc.review.md").contains("1 finding."))
        try await steward.stop()
    }

    @Test("A sidecar follows its draft, and answers are remembered when it comes back")
    func removedDraft() async throws {
        let steward = try await steward()
        try steward.rule(
            "20-gone.yaml", "- rule: Gone\n  in: drafts\n  on: removed\n  do:\n    - review\n")
        try steward.run(["reload"]).check()
        let two = Self.before + "\nWe stayed due to the fact that it rained.\n"
        try steward.drop("drafts/essay.md", two)
        try await sidecar(steward, holds: "2 findings.")
        let text = try steward.read("drafts/essay.review.md")
        let first = try #require(text.range(of: "- [ ]"))
        try steward.drop("drafts/essay.review.md", text.replacingCharacters(in: first, with: "- [-]"))
        try await sidecar(steward, holds: "1 finding, 1 skipped.")

        let aside = steward.home.path.appending("aside.md").text
        try steward.shell(["mv", steward.path("drafts/essay.md").text, aside]).check()
        try await steward.until("the sidecar is gone") { try !steward.exists("drafts/essay.review.md") }
        try steward.wait()
        let job = try #require(try steward.past("drafts/essay.md").first { $0["rule"].text == "Gone" }?["job"].text)
        try steward.run(["undo", job]).check()
        #expect(try steward.read("drafts/essay.review.md").contains("1 finding, 1 skipped."))
        try steward.shell(["rm", steward.path("drafts/essay.review.md").text]).check()
        try steward.wait()

        try steward.shell(["mv", aside, steward.path("drafts/essay.md").text]).check()
        try await sidecar(steward, holds: "1 finding, 1 skipped.")
        // A person's own words are kept.
        let own = try steward.read("drafts/essay.review.md") + "\nA thought of my own.\n"
        try steward.drop("drafts/essay.review.md", own)
        try steward.shell(["mv", steward.path("drafts/essay.md").text, aside]).check()
        try await steward.until("the draft is known to be gone") {
            try steward.run(["log"]).output.contains("because somebody has written to it")
        }
        #expect(try steward.read("drafts/essay.review.md") == own)
        try await steward.stop()
    }

    @Test("`explain` says why nothing was done to a draft that was there before")
    func thereBefore() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("10-review.yaml", Self.rule)
        try steward.drop("drafts/essay.md", Self.before)
        try await steward.start()
        try steward.wait()
        let explained = try steward.run(["explain", steward.path("drafts/essay.md").text]).output
        #expect(
            explained.contains("Review would:") && explained.contains("! this was not done: the file was there before"))
        try steward.run(["reprocess", steward.path("drafts/essay.md").text]).check()
        try await sidecar(steward, holds: "1 finding.")
        let later = try steward.run(["explain", steward.path("drafts/essay.md").text]).output
        #expect(!later.contains("this was not done"))
        try await steward.stop()
    }
}
