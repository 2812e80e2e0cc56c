import CLinux
import DequeModule
import Dispatch
import Synchronization

/// The threads of a ``BlockingPool`` for one bulkhead, and their queue. A thread starts when there is work and ends
/// when there is none; a thread with a hanging call is replaced.
final class PoolThreads: TaskExecutor {
    private struct State {
        var queue: Deque<@Sendable () -> Void> = []
        /// Busy threads, including those with hanging calls.
        var atWork = 0
        var hung = 0
    }

    let whose: Bulkhead?
    private let label: String
    private let width: Int
    private let state = Mutex(State())

    init(_ label: String, width: Int, for whose: Bulkhead?) {
        (self.label, self.width, self.whose) = (label, width, whose)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.queue.append(work)
            return claimsThread(&state)
        }
        if mustStart { start() }
    }

    private func claimsThread(_ state: inout State) -> Bool {
        guard state.atWork - state.hung < width, !state.queue.isEmpty else { return false }
        state.atWork += 1
        return true
    }

    private func start() {
        // A serial queue gets a thread at once; a concurrent one may have to wait.
        DispatchQueue(label: "steward.\(label).\(whose?.label ?? "all")").async {
            steward_mark_thread(Unmanaged.passUnretained(self).toOpaque())
            defer { steward_mark_thread(nil) }
            while let work = self.next() { work() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            // A thread that returns from a hanging call may be one too many.
            if state.atWork - state.hung <= width, let work = state.queue.popFirst() { return work }
            state.atWork -= 1
            return nil
        }
    }

    /// Makes a call that may never return, on the current thread, which belongs to this pool.
    ///
    /// - Throws: any error of `work`; `Fault(.transient)` with the code ``Fault/hanging`` if all threads hang. `work`
    ///   has then not begun.
    func watched<R>(_ work: () throws -> R) throws -> R {
        guard state.withLock({ $0.hung < width }) else {
            throw Fault(
                .transient,
                "\(whose?.label ?? "a file") has to wait: its file system does not respond (`steward status` says more)",
                code: Fault.hanging)
        }
        return try HangWatch.shared.watching(whose, changed: { self.setHung($0) }, work)
    }

    /// While a call hangs, another thread replaces its own.
    private func setHung(_ isHung: Bool) {
        let mustStart = state.withLock { state in
            state.hung += isHung ? 1 : -1
            return isHung && claimsThread(&state)
        }
        if mustStart { start() }
    }
}
