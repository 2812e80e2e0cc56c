import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Undo while the agent writes into the same note.
@Suite("Undo alongside other work", .ownThreads) struct UndoBesideWorkTests {
    private static let rule = """
        - rule: Captures
          in: dropbox
          settle: 50ms
          do:
            - index-capture
            - append-block: { note: inbox, heading: Captures, text: "got {{ capture.text }}" }
            - trash
        """

    @Test(
        "Many undos complete while the agent writes into the same note, and nothing else is touched"
    )
    func besideWrites() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rule)
        try await steward.start()
        for number in 1...15 { try steward.drop(BytePath("dropbox/a\(number).md"), "first \(number).") }
        try steward.wait()
        let jobs = try steward.inLedger("SELECT id FROM job WHERE state = 'done'").split(separator: "\n").map(
            String.init)
        #expect(jobs.count == 15)
        let script = """
            for n in $(seq 150); do printf 'second %s.' $n > .$n && mv .$n b$n.md; sleep 0.01; done
            """
        let writing = Process(["/bin/sh", "-c", script], in: steward.path("dropbox"), environment: steward.environment)
        try writing.run()
        defer { if writing.isRunning { kill(writing.processIdentifier, SIGKILL) } }
        for job in jobs {
            let result = try steward.run(["undo", job])
            #expect(result.status == 0 || result.errors.contains("is retried automatically"), "\(result.errors)")
        }
        try await steward.until("all are written") { !writing.isRunning }
        try await steward.until("all of them are undone") {
            try steward.inLedger("SELECT count(*) FROM job WHERE state = 'undone'") == "15"
        }
        try steward.wait()
        let note = try steward.read("notes/inbox.md")
        for number in 1...15 { #expect(!note.contains("got first \(number).")) }
        for number in 1...150 {
            #expect(note.split(separator: "\n").count { $0 == "got second \(number)." } == 1, "\(number)")
        }
        #expect(try steward.json(["health"])["isHealthy"].isTrue)
    }
}
