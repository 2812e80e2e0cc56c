import Dispatch

/// A serial queue of its own for calls that block (files, SQLite, hashing), so that the cooperative pool, which has no
/// more threads than cores, never waits for a disk. `run` suspends the caller, not a pool thread.
package actor BlockingLane {
    private let executor: QueueExecutor

    package init(_ label: String) {
        executor = QueueExecutor(label: "steward.\(label)")
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package func run<R: Sendable>(_ work: @Sendable () throws -> R) throws -> R { try work() }
}

/// Runs an actor's jobs on a dispatch queue that nothing else uses.
private final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// Several lanes behind one door: work goes to them in turn.
package struct BlockingLanes: Sendable {
    private let lanes: [BlockingLane]
    private let next = Counter()

    /// - Parameter count: how many calls may block at the same time.
    package init(_ label: String, count: Int) {
        lanes = (0..<max(1, count)).map { BlockingLane("\(label).\($0)") }
    }

    package func run<R: Sendable>(_ work: @Sendable () throws -> R) async throws -> R {
        try await lanes[next.take() % lanes.count].run(work)
    }
}
