import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// How much of what rules write stays in the ledger (docs/design/exactly-once.md).
@Suite("A ledger of reviews", .ownThreads)
struct LedgerGrowthTests {
    /// A draft of 200 KB with a finding in every paragraph.
    private static func draft(_ number: Int) -> String {
        let plain = "The boat is at the pier, and everybody can see it from the house on the hill above. "
        return (0..<200).map { paragraph in
            "In order to see \(paragraph) of them, we rise at \(number). " + String(repeating: plain, count: 12)
                + "\n\n"
        }.joined()
    }

    private func size(_ steward: AgentFixture, _ file: BytePath) throws -> Int {
        Int(try FileStatus.of(steward.home.path.appending(file))?.size ?? 0)
    }

    @Test("Twenty of one large draft leave it small, and the last can be undone")
    func reviews() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            "10-review.yaml", ReviewAnswerTests.rule.replacingOccurrences(of: "300ms", with: "100ms"))
        try await steward.start()
        for number in 1...20 {
            try steward.drop("drafts/essay.md", Self.draft(number))
            try await steward.until("version \(number) has been reviewed") {
                try steward.judgements("Review", in: "drafts").count >= number
            }
            try steward.wait()
        }
        let written =
            try size(steward, "Steward/drafts/essay.review.md")
            + size(steward, "Steward/drafts/.tk/reviews/essay.md.json")
        let answered = try steward.read("drafts/essay.review.md").replacingOccurrences(of: "- [ ]", with: "- [x]")
        try steward.drop("drafts/essay.review.md", answered)
        try await steward.until("the answers are in the draft") {
            try !steward.read("drafts/essay.md").contains("In order to")
        }
        try steward.wait()
        let job = try #require(
            try steward.loggedLines().last { $0.kind == "step" && $0.message.contains("accepted 200") }?.job)
        try await steward.stop()
        let kept = try size(steward, ".local/state/steward/ledger.sqlite")
        let bound = 2 << 20
        #expect(kept < bound)
        #expect(20 * written > 2 * bound, "\(written) bytes a review are no measure")

        try await steward.start()
        try steward.run(["undo", job]).check()
        #expect(try steward.read("drafts/essay.md") == Self.draft(20))
        #expect(try steward.read("drafts/essay.review.md").contains("200 findings."))
        try await steward.stop()
    }
}
