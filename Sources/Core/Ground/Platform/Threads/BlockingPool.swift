import CLinux
import Synchronization

/// A thread pool for blocking calls (files, SQLite, hashing), so that the cooperative pool, which has no more threads
/// than cores, never waits for a disk.
///
/// ``run(_:)`` makes one call while the caller suspends. A task with many calls runs entirely on a pool's threads
/// (``run(for:_:)``, ``start(for:_:then:)``) and makes its calls directly.
package final class BlockingPool: Sendable {
    private let label: String
    private let width: Int
    private let isPerBulkhead: Bool
    private let all = Mutex<[Bulkhead?: (threads: PoolThreads, users: Int)]>([:])

    /// - Parameters:
    ///   - threads: how many calls run concurrently. With one, calls run serially in FIFO order.
    ///   - perBulkhead: whether each ``Bulkhead`` has this many threads to itself, and hanging calls are detected: for
    ///     people's
    ///     files, whose file systems may stop answering.
    package init(_ label: String, threads: Int = 1, perBulkhead: Bool = false) {
        self.label = label
        width = max(1, threads)
        isPerBulkhead = perBulkhead
    }

    // MARK: Calls

    /// Runs `work` on one of the pool's threads.
    ///
    /// - Throws: any error of `work`. In a pool with bulkheads, `Fault(.transient)` with the code ``Fault/hanging`` if
    ///   all threads of the bulkhead hang; `work` has then not begun.
    package func run<R: Sendable>(_ work: @Sendable () throws -> R) async throws -> R {
        guard isPerBulkhead else { return try await withThreads(for: nil) { try await BlockingCall($0).run(work) } }
        let whose = Bulkhead.current
        if let here = Self.current(isolation: #isolation), here.whose == whose { return try here.watched(work) }
        return try await withThreads(for: whose) { threads in
            try await BlockingCall(threads).run { try threads.watched(work) }
        }
    }

    /// The same for work that cannot fail, in a pool without bulkheads.
    package func runQuietly<R: Sendable>(_ work: @Sendable () -> R) async -> R {
        await withThreads(for: nil) { await BlockingCall($0).runQuietly(work) }
    }

    private func withThreads<R>(for whose: Bulkhead?, _ body: (PoolThreads) async throws -> R) async rethrows -> R {
        let threads = entered(whose)
        defer { leave(whose) }
        return try await body(threads)
    }

    private func entered(_ whose: Bulkhead?) -> PoolThreads {
        all.withLock { all in
            // Notes have bulkheads too, and there is a new one every day.
            if all[whose] == nil, all.count >= Self.most { all = all.filter { $0.value.users > 0 } }
            let threads = all[whose]?.threads ?? PoolThreads(label, width: width, for: whose)
            all[whose, default: (threads, 0)].users += 1
            return threads
        }
    }

    private func leave(_ whose: Bulkhead?) { all.withLock { $0[whose]?.users -= 1 } }

    /// Above this number, unused bulkheads are dropped.
    private static let most = 64

    // MARK: Tasks

    private static let tasks = BlockingPool("tasks", threads: 4, perBulkhead: true)

    /// Runs `body` on a bulkhead's threads and on its behalf.
    @concurrent
    package static func run<R: Sendable>(
        for whose: Bulkhead?, _ body: @concurrent @Sendable () async throws -> R
    ) async rethrows -> R {
        // Already there; the outer task counts as a user until it ends.
        if let here = current(isolation: nil), here.whose == whose, Bulkhead.current == whose {
            return try await body()
        }
        let threads = tasks.entered(whose)
        defer { tasks.leave(whose) }
        return try await Bulkhead.$current.withValue(whose) {
            try await withTaskExecutorPreference(threads) { try await body() }
        }
    }

    /// Starts a task that runs `body` there; wakes no other thread.
    ///
    /// - Parameter then: called with the result on the cooperative pool, for example to call an actor, for which these
    ///   threads must not wait.
    package static func start<R: Sendable>(
        for whose: Bulkhead?, _ body: @concurrent @Sendable @escaping () async -> R,
        then: (@concurrent @Sendable (R) async -> Void)? = nil
    ) {
        let threads = tasks.entered(whose)
        Bulkhead.$current.withValue(whose) {
            _ = Task(executorPreference: threads) {
                let result = await body()
                tasks.leave(whose)
                guard let then else { return }
                await withTaskExecutorPreference(globalConcurrentExecutor) { await then(result) }
            }
        }
    }

    /// Whether the caller may block: it is on a pool's thread and not on an actor, which would keep others waiting.
    package static func isCurrent(isolation: (any Actor)?) -> Bool { current(isolation: isolation) != nil }

    private static func current(isolation: (any Actor)?) -> PoolThreads? {
        guard isolation == nil, let mark = steward_thread_mark() else { return nil }
        return Unmanaged<PoolThreads>.fromOpaque(mark).takeUnretainedValue()
    }
}

/// One call, as an actor so that it runs on a pool's thread without escaping from its caller.
private actor BlockingCall: SerialExecutor {
    private let threads: PoolThreads

    init(_ threads: PoolThreads) { self.threads = threads }

    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.add { job.runSynchronously(on: self.unownedExecutor) }
    }

    func run<R: Sendable>(_ work: @Sendable () throws -> R) throws -> R { try work() }

    func runQuietly<R: Sendable>(_ work: @Sendable () -> R) -> R { work() }
}
