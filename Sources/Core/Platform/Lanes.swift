import Dispatch
import Synchronization

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

/// Several lanes behind one door: work goes to the one with the least of it, so that nothing waits behind a long call
/// while another lane is idle.
package final class BlockingLanes: Sendable {
    private let lanes: [BlockingLane]
    /// Calls that each lane has taken and not ended.
    private let open: Mutex<[Int]>

    /// - Parameter count: how many calls may block at the same time.
    package init(_ label: String, count: Int) {
        lanes = (0..<max(1, count)).map { BlockingLane("\(label).\($0)") }
        open = Mutex(lanes.map { _ in 0 })
    }

    package func run<R: Sendable>(_ work: @Sendable () throws -> R) async throws -> R {
        let lane = open.withLock { open in
            let lane = open.indices.min { open[$0] < open[$1] } ?? 0
            open[lane] += 1
            return lane
        }
        defer { open.withLock { $0[lane] -= 1 } }
        return try await lanes[lane].run(work)
    }
}
