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

/// Several lanes behind one door: work takes the first that is free, in the order in which it came.
package final class BlockingLanes: Sendable {
    private let label: String
    private let count: Int
    private let areApart: Bool
    private let rows = Mutex<[Bulkhead?: (row: LaneRow, users: Int)]>([:])

    /// - Parameters:
    ///   - count: how many calls may block at the same time.
    ///   - apart: whether each ``Bulkhead`` gets as many of its own, and calls that hang are noticed: for calls on files
    ///     of people's, whose file systems may stop answering.
    package init(_ label: String, count: Int, apart: Bool = false) {
        self.label = label
        self.count = max(1, count)
        areApart = apart
    }

    /// - Throws: what `work` throws; `Fault(.transient)` with the code ``Fault/hanging`` where every lane of the bulkhead
    ///   is in a call that does not return. Then `work` has not begun.
    package func run<R: Sendable>(_ work: @Sendable () throws -> R) async throws -> R {
        let whose = areApart ? Bulkhead.current : nil
        if areApart, let threads = BlockingThreads.current(isolation: #isolation), threads.whose == whose {
            return try threads.call(work)
        }
        let row = entered(whose)
        defer { rows.withLock { $0[whose]?.users -= 1 } }
        let lane = try await row.acquired(for: whose)
        defer { row.give(back: lane) }
        guard areApart else { return try await lane.run(work) }
        return try await lane.run {
            try HangWatch.shared.watching(whose, changed: { row.setHung($0, for: whose) }, work)
        }
    }

    private func entered(_ whose: Bulkhead?) -> LaneRow {
        rows.withLock { rows in
            // Notes are bulkheads as well, and there is a new one every day.
            if rows[whose] == nil, rows.count >= Self.most { rows = rows.filter { $0.value.users > 0 } }
            let row = rows[whose]?.row ?? LaneRow(label, count: count)
            rows[whose, default: (row, 0)].users += 1
            return row
        }
    }

    /// Rows from which on those that nobody uses are given up.
    private static let most = 64
}

/// The lanes of one bulkhead.
final class LaneRow: Sendable {
    private struct State {
        var free: [BlockingLane] = []
        var made = 0
        var hung = 0
        var waiting: [CheckedContinuation<BlockingLane, any Error>] = []
        /// Those before it have been served.
        var head = 0

        mutating func next() -> CheckedContinuation<BlockingLane, any Error>? {
            guard head < waiting.count else { return nil }
            defer {
                head += 1
                if head == waiting.count || head > 1_024 {
                    waiting.removeFirst(head)
                    head = 0
                }
            }
            return waiting[head]
        }
    }

    private let label: String
    private let count: Int
    private let state = Mutex(State())

    init(_ label: String, count: Int) {
        self.label = label
        self.count = count
    }

    func acquired(for whose: Bulkhead?) async throws -> BlockingLane {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<BlockingLane, any Error>? = state.withLock { state in
                if let lane = state.free.popLast() { return .success(lane) }
                if state.made < count {
                    state.made += 1
                    return .success(BlockingLane("\(label).\(state.made)"))
                }
                if state.hung == count { return .failure(Self.refusal(whose)) }
                state.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    func give(back lane: BlockingLane) {
        let next = state.withLock { state in
            let next = state.next()
            if next == nil { state.free.append(lane) }
            return next
        }
        next?.resume(returning: lane)
    }

    /// A call of one of the lanes hangs, or has returned after all. While all hang, nobody waits for them.
    func setHung(_ isHung: Bool, for whose: Bulkhead?) {
        let refused = state.withLock { state in
            state.hung += isHung ? 1 : -1
            guard state.hung == count else { return [CheckedContinuation<BlockingLane, any Error>]() }
            defer { (state.waiting, state.head) = ([], 0) }
            return Array(state.waiting[state.head...])
        }
        for continuation in refused { continuation.resume(throwing: Self.refusal(whose)) }
    }

    static func refusal(_ whose: Bulkhead?) -> Fault {
        Fault(
            .transient,
            "\(whose?.label ?? "a file") has to wait: its file system does not answer (`steward status` says more)",
            code: Fault.hanging)
    }
}
