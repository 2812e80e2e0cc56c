import Ledger
import Platform
import Rules
import TestSupport
import Testing

/// Thousands of backlog files do not delay new ones.
@Suite("Jobs for existing files and for arrivals", .timeLimit(.minutes(30)))
struct RunningBacklogTests {
    private let folder: TemporaryFolder
    private let script = Script()
    private let backlog = 100

    init() throws { folder = try TemporaryFolder() }

    private func bench() throws -> Bench {
        try Bench(
            folder.path, script,
            rules: """
                - { rule: R, in: inbox, on: [arrived, changed], do: { probe: { text: "{{ event }}" } } }
                """, maximumFiles: 8, share: 4, window: 8)
    }

    private func see(_ path: BytePath, _ text: String, isBacklog: Bool, _ bench: Bench) async throws {
        try bench.write(BytePath("inbox").appending(path), text)
        await bench.submit(try await bench.judge.judge(try bench.place(), path, isBacklog: isBacklog))
    }

    /// A paused bench with a backlog that is mostly in the ledger only.
    private func paused() async throws -> Bench {
        let bench = try bench()
        try await bench.runner.setPaused(true)
        for number in 0..<backlog { try await see(BytePath("old\(number)"), "old", isBacklog: true, bench) }
        return bench
    }

    /// How many were begun before the last of these.
    private func last(_ prefix: String) -> Int { script.lines.lastIndex { $0.contains(prefix) } ?? .max }

    @Test("Arrivals come first, even beyond what is in memory, and nothing is repeated or skipped")
    func first() async throws {
        let bench = try await paused()
        for number in 0..<20 { try await see(BytePath("new\(number)"), "new", isBacklog: false, bench) }
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(Set(script.lines).count == backlog + 20 && script.lines.count == backlog + 20)
        #expect(last(" new") < 60)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": backlog + 20])
    }

    @Test("After a restart too")
    func nextLife() async throws {
        let first = try await paused()
        for number in 0..<20 { try await see(BytePath("new\(number)"), "new", isBacklog: false, first) }
        let next = try bench()
        try await next.runner.start()
        try await next.runner.setPaused(false)
        await next.runner.idle()
        #expect(Set(script.lines).count == backlog + 20 && script.lines.count == backlog + 20)
        #expect(last(" new") < 60)
    }

    @Test("Jobs of one file keep their order, including those in the backlog", arguments: [0, 50, 99])
    func sameFile(number: Int) async throws {
        let bench = try await paused()
        let name = BytePath("old\(number)")
        try await see(name, "new", isBacklog: false, bench)
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        let own = script.lines.filter { $0.hasPrefix("perform p \(name) ") }
        #expect(own == ["perform p \(name) arrived", "perform p \(name) changed"])
        #expect(last(" \(name) ") < 40)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": backlog + 1])
    }
}
