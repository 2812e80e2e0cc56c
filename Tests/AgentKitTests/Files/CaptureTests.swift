import Platform
import TestSupport
import Testing

@Suite("Captures, end to end", .ownThreads)
struct CaptureTests {
    @Test("A dropped note is stored, written into today's note and trashed")
    func note() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            "10-captures.yaml",
            """
            - rule: Captures
              in: dropbox
              settle: 200ms
              do:
                - index-capture
                - append-block: { heading: Captures, anchor: cap, text: "{{ capture.text }}" }
                - trash
            """)
        try await steward.start()
        try steward.drop("dropbox/idea.md", "Swap the chapters.\n")
        try steward.wait()
        #expect(try steward.notes().contains("Swap the chapters."))
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try await steward.stop() == 0)
    }
}
