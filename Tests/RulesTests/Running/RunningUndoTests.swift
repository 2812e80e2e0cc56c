import Foundation
import Ledger
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// An undo is work like any other: it has a state, waits for transient obstacles, is shown, and finishes without a
/// person.
@Suite("Undo as a job")
struct RunningUndoTests {
    let folder: TemporaryFolder
    let script = Script()

    init() throws { folder = try TemporaryFolder("undoing") }

    private static let rules = "- { rule: R, in: inbox, do: [{ probe: { name: a } }, { probe: { name: b } }] }"

    /// A finished job, in a running agent.
    private func done() async throws -> (Bench, JobRecord) {
        let bench = try Bench(folder.path, script, rules: Self.rules)
        try await bench.runner.start()
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        return (bench, try await bench.onlyJob())
    }

    /// Makes a step's undo fail a few times.
    private func hinder(_ name: String, _ times: Int, _ fault: Fault) {
        let left = Mutex(times)
        script.undo(name) {
            let isLeft = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isLeft { throw fault }
        }
    }

    @Test("A temporary obstacle is waited for: the agent completes it, and the job is never reported as done")
    func retried() async throws {
        let (bench, job) = try await done()
        hinder("a", 2, Fault(.transient, "the note is leased by another process"))
        let fault = await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        #expect(fault?.kind == .transient && fault?.message.contains("The undo is retried automatically") == true)
        let half = try await bench.onlyJob()
        #expect(half.state == .undoing && half.problem == "the note is leased by another process")
        #expect(half.nextAttempt != nil)
        #expect(try await bench.ledger.read { try $0.steps(of: job.id).map(\.state) } == [.undoing, .undone])
        try await waitUntil("it is undone") { try await bench.onlyJob().state == .undone }
        #expect(script.lines.filter { $0.hasPrefix("undo") } == ["undo b", "undo a", "undo a", "undo a"])
        #expect(try await bench.onlyJob().problem == nil)
        #expect(try await bench.ledger.read { try $0.meta("undo:\(job.id)") } == nil)
    }

    @Test("One that waits when the agent ends is completed by the next")
    func nextLife() async throws {
        let (bench, job) = try await done()
        hinder("a", 1, Fault(.transient, "the note is open"))
        await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        await bench.runner.drain()
        let next = try Bench(folder.path, script, rules: Self.rules)
        try await next.runner.start()
        try await waitUntil("it is undone") { try await next.onlyJob().state == .undone }
    }

    @Test("An impossible undo leaves the job as it was; a partial one waits for a person")
    func stopped() async throws {
        let (bench, job) = try await done()
        hinder("b", 1, Fault(.failed, "somebody has edited it"))
        await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        #expect(try await bench.onlyJob().state == .done)
        hinder("a", 1, Fault(.failed, "that as well"))
        await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        let half = try await bench.onlyJob()
        #expect(half.state == .undoing && half.problem == "that as well" && half.nextAttempt == nil)
        #expect(try await bench.ledger.read { try $0.jobsBeingUndone() }.isEmpty)
        _ = try await bench.executor.undo(job.id)
        #expect(try await bench.onlyJob().state == .undone)
    }
}
