import DequeModule
import Synchronization

/// Limits how much async work runs concurrently. Waiters suspend instead of blocking a thread, and get permits in FIFO
/// order.
///
/// Not an actor: every step of every job acquires a permit, and would switch threads to do so.
package final class AsyncSemaphore: Sendable {
    /// The right to run, until released.
    package final class Permit: Sendable {
        private let semaphore: AsyncSemaphore
        private let held = Atomic<Bool>(true)

        fileprivate init(_ semaphore: AsyncSemaphore) { self.semaphore = semaphore }

        /// Whether it has not been released.
        package var isHeld: Bool { held.load(ordering: .acquiring) }

        /// Hands the permit to the next waiter. Further calls are no-ops.
        package func release() {
            if held.exchange(false, ordering: .acquiringAndReleasing) { semaphore.release() }
        }
    }

    private struct State {
        var free: Int
        var waiters: Deque<(id: Int, continuation: CheckedContinuation<Permit?, Never>)> = []
        var lastID = 0

        mutating func take() -> Bool {
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    private let state: Mutex<State>

    /// - Parameter permits: how many can be held concurrently; at least one.
    package init(permits: Int) { state = Mutex(State(free: max(1, permits))) }

    /// The number of waiters.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for a permit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while waiting; it then holds no permit.
    package func acquire() async throws(CancellationError) -> Permit {
        if let permit = acquireIfFree() { return permit }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let permit = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasPermit: Bool? = state.withLock { state in
                    // A later cancellation finds the waiter in the queue.
                    if Task.isCancelled { return false }
                    if state.take() { return true }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let hasPermit { continuation.resume(returning: hasPermit ? Permit(self) : nil) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: nil)
        }
        guard let permit else { throw CancellationError() }
        return permit
    }

    /// A permit; nil if none is free.
    package func acquireIfFree() -> Permit? { state.withLock { $0.take() } ? Permit(self) : nil }

    /// Runs `body` with a permit.
    ///
    /// - Throws: any error of `body`, and `CancellationError` like ``acquire()``.
    package func withPermit<R>(_ body: () async throws -> R) async throws -> R {
        let permit = try await acquire()
        defer { permit.release() }
        return try await body()
    }

    private func release() {
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
        next?.continuation.resume(returning: Permit(self))
    }
}
