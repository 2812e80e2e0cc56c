import Foundation
import Platform
import TestSupport
import Testing

/// Programs that answer and retry continuously, so that some requests arrive while jobs' threads are returning.
@Suite("Jobs answered and retried at once", .timeLimit(.minutes(30)), .ownThreads)
struct AskedAgainTests {
    private static let count = Thoroughness.isWhole ? 2_500 : 150

    private func drop(_ steward: AgentFixture) throws {
        for number in 0..<Self.count { try steward.drop(BytePath("drafts/\(number).md"), "draft \(number)\n") }
    }

    /// Repeats the requests until they have affected every job.
    ///
    /// - Parameter heard: how many jobs they have affected, as SQL.
    private func ask(_ steward: AgentFixture, _ requests: [String], until heard: String) async throws {
        let socket = steward.home.path.appending("run/control.sock")
        try await steward.until("all have been asked for", seconds: 300) {
            for _ in 0..<20 {
                for request in requests {
                    let caller = try SocketCaller(socket)
                    caller.say(Array("\(request)\n".utf8))
                    _ = caller.answer()
                }
            }
            return try steward.inLedger(heard) == "\(Self.count)"
        }
        try steward.wait()
        let counts = try steward.inLedger("SELECT state, count(*) FROM job GROUP BY state ORDER BY state")
        #expect(counts == "done|\(Self.count)")
        #expect(try steward.run(["health"]).output.contains("are ready") == false)
    }

    @Test("A yes right after a job has asked is never missed")
    func confirmed() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            "- { rule: R, in: drafts, settle: 100ms, on: arrived, do: [{ confirm: { text: \"Trash?\" } }, trash] }")
        try await steward.start()
        try drop(steward)
        try await ask(
            steward, ["{\"command\":\"confirm\"}"], until: "SELECT count(*) FROM question WHERE answer IS NOT NULL")
    }

    @Test("A retry right after a job has failed is never missed, even during pauses")
    func retried() async throws {
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }")
        let seen = steward.home.path.appending("seen")
        try FileManager.default.createDirectory(atPath: seen.text, withIntermediateDirectories: true)
        // Each fails on its first run.
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              on: arrived
              do: [{ run: { command: [sh, -c, "mkdir \(seen.text)/$0 && exit 1; exit 0", "{{ file.name }}"] } }]
            """)
        try await steward.start()
        try drop(steward)
        try await ask(
            steward, ["{\"command\":\"retry\"}", "{\"command\":\"pause\"}", "{\"command\":\"resume\"}"],
            until: "SELECT count(DISTINCT job) FROM history WHERE kind = 'retry'")
    }

    @Test("Health and metrics report a ready job that no scheduler knows")
    func unknown() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("- { rule: R, in: drafts, settle: 100ms, on: arrived, do: trash }")
        try await steward.start()
        try steward.drop("drafts/a.md", "A\n")
        try steward.wait()
        #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_jobs_unknown 0\n"))
        _ = try steward.inLedger("UPDATE job SET state = 'ready', updated = 1")
        let health = try steward.run(["health"])
        #expect(health.status == 2)
        #expect(health.output.contains("1 jobs are ready, but no scheduler knows them"), "\(health.output)")
        #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_jobs_unknown 1\n"))
        // The next start runs it, and nothing is left to do.
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.inLedger("SELECT state FROM job") == "done")
        #expect(try !steward.run(["health"]).output.contains("are ready"))
    }
}
