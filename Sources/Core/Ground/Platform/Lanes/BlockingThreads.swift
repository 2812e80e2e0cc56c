import CLinux
import Dispatch
import Synchronization

/// Threads of a bulkhead on which calls may block: a task that prefers them makes its calls where it stands, without going
/// to a lane and back for each.
///
/// It makes them only while it is on no actor: an actor that waited in a call would keep everybody else from its state.
/// ``BlockingLanes/run(_:)`` and the ledger see to that themselves.
package final class BlockingThreads: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Those before it have been run.
        var head = 0
        /// Threads at work, those in calls that hang among them.
        var atWork = 0
        var hung = 0

        mutating func next() -> UnownedJob? {
            guard head < jobs.count else { return nil }
            defer {
                head += 1
                if head == jobs.count || head > 1_024 {
                    jobs.removeFirst(head)
                    head = 0
                }
            }
            return jobs[head]
        }
    }

    let whose: Bulkhead?
    private let width: Int
    private let state = Mutex(State())

    private init(_ whose: Bulkhead?) {
        self.whose = whose
        width = Self.width
    }

    /// Threads of one bulkhead.
    private static let width = 4

    // MARK: Whose there are

    private static let all = Mutex<[Bulkhead?: (threads: BlockingThreads, users: Int)]>([:])
    /// From so many on, those that nobody uses are given up.
    private static let most = 64

    /// Runs `body` on threads of the bulkhead; what it does is done on the bulkhead's behalf.
    @concurrent
    package static func run<R: Sendable>(
        for whose: Bulkhead?, _ body: @concurrent @Sendable () async throws -> R
    ) async rethrows -> R {
        // Nothing to go over to; and the task that came here first counts as a user until it ends.
        if let here = current(isolation: nil), here.whose == whose, Bulkhead.current == whose {
            return try await body()
        }
        let threads = entered(whose)
        defer { all.withLock { $0[whose]?.users -= 1 } }
        return try await Bulkhead.$current.withValue(whose) {
            try await withTaskExecutorPreference(threads) { try await body() }
        }
    }

    /// Has a task of its own run `body` there, which wakes no thread but one of these.
    ///
    /// - Parameter then: what is to be done with its result elsewhere, as by an actor, which these threads must not wait for.
    package static func start<R: Sendable>(
        for whose: Bulkhead?, _ body: @concurrent @Sendable @escaping () async -> R,
        then: (@concurrent @Sendable (R) async -> Void)? = nil
    ) {
        let threads = entered(whose)
        Bulkhead.$current.withValue(whose) {
            _ = Task(executorPreference: threads) {
                let result = await body()
                all.withLock { $0[whose]?.users -= 1 }
                guard let then else { return }
                await withTaskExecutorPreference(globalConcurrentExecutor) { await then(result) }
            }
        }
    }

    private static func entered(_ whose: Bulkhead?) -> BlockingThreads {
        all.withLock { all in
            // Notes are bulkheads as well, and there is a new one every day.
            if all[whose] == nil, all.count >= most { all = all.filter { $0.value.users > 0 } }
            let threads = all[whose]?.threads ?? BlockingThreads(whose)
            all[whose, default: (threads, 0)].users += 1
            return threads
        }
    }

    // MARK: Running

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            return claimsThread(&state)
        }
        if mustStart { start() }
    }

    private func claimsThread(_ state: inout State) -> Bool {
        guard state.atWork - state.hung < width, state.head < state.jobs.count else { return false }
        state.atWork += 1
        return true
    }

    private func start() {
        // A serial queue gets a thread at once; a concurrent one has to wait for it.
        DispatchQueue(label: "steward.\(whose?.label ?? "threads")").async { self.work() }
    }

    private func work() {
        steward_mark_thread(Unmanaged.passUnretained(self).toOpaque())
        defer { steward_mark_thread(nil) }
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            // One that came back from a call that hung may be one too many.
            if state.atWork - state.hung <= width, let job = state.next() { return job }
            state.atWork -= 1
            return nil
        }
    }

    // MARK: Calls

    /// Those that the calling code stands on and may block; nil where it is elsewhere, or on an actor.
    package static func current(isolation: (any Actor)?) -> BlockingThreads? {
        guard isolation == nil, let mark = steward_thread_mark() else { return nil }
        return Unmanaged<BlockingThreads>.fromOpaque(mark).takeUnretainedValue()
    }

    /// Makes a call that may never return.
    ///
    /// - Throws: what `work` throws; `Fault(.transient)` with the code ``Fault/hanging`` where as many calls of this
    ///   bulkhead hang as it has threads. Then `work` has not begun.
    func call<R>(_ work: () throws -> R) throws -> R {
        guard state.withLock({ $0.hung < width }) else { throw LaneRow.refusal(whose) }
        return try HangWatch.shared.watching(whose, changed: { self.setHung($0) }, work)
    }

    /// While a call hangs, another thread does what its own would have done.
    private func setHung(_ isHung: Bool) {
        let mustStart = state.withLock { state in
            state.hung += isHung ? 1 : -1
            return isHung && claimsThread(&state)
        }
        if mustStart { start() }
    }
}
