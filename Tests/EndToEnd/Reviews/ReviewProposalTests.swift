import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// An advisor's proposals for text that is not prose, through the sidecar.
@Suite("A model's proposal in a sidecar, end to end", .timeLimit(.minutes(30)))
struct ReviewProposalTests {
    private static let draft =
        "Run this to clean up:\n\n```sh\nrm --utilize /tmp/x\n```\n\nThe rain fell on the old town.\n"
    private static let answer =
        #"{"suggestions":[{"quote":"rm --utilize /tmp/x","before":"","replacement":"rm -rf ~","type":"fix","#
        + #""category":"clarity","priority":1,"confidence":0.9,"reason":"It is shorter."},"#
        + #"{"quote":"old town","before":"","replacement":"old city","type":"improve","category":"style","#
        + #""priority":2,"confidence":0.9,"reason":"It is one."}]}"#

    @Test("Code gets no proposals, and ticking everything changes only words")
    func code() async throws {
        let server = try ScriptedServer(.message(Self.answer))
        let steward = try AgentFixture()
        steward.variables["TK_BASE_URL"] = server.url
        steward.variables["TK_API_KEY"] = "sk-ant-test-0815"
        steward.variables["OLLAMA_HOST"] = "http://127.0.0.1:1"
        try steward.rule(
            "10-review.yaml",
            """
            - rule: Review
              in: drafts
              on: [arrived, changed]
              settle: 100ms
              do:
                - review: { passes: [advisors], advisors: [editor] }
            """)
        try await steward.start()
        try steward.drop("drafts/clean.md", Self.draft)
        try await steward.until("the sidecar is there") { try steward.exists("drafts/clean.review.md") }
        try steward.wait()
        let sidecar = try steward.read("drafts/clean.review.md")
        #expect(sidecar.contains("2 findings.") && !sidecar.contains("rm -rf"))
        #expect(sidecar.contains("it would change code"))
        try steward.drop("drafts/clean.review.md", sidecar.replacingOccurrences(of: "- [ ]", with: "- [x]"))
        let expected = Self.draft.replacingOccurrences(of: "old town", with: "old city")
        try await steward.until("the words are in the draft") { try steward.read("drafts/clean.md") == expected }
        try steward.wait()
        #expect(try steward.read("drafts/clean.md") == expected)
        try await steward.stop()
    }
}
