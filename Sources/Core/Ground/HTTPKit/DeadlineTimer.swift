import Synchronization

/// Ends operations that exceed their time limit, with one sleeping task for all: a timer for each would cost as much as
/// a request.
///
/// The task sleeps until the earliest deadline. Operations that end in time do not wake it, and it ends when no
/// deadline is left.
package final class DeadlineTimer: Sendable {
    private struct State {
        var waiting: [UInt64: (due: ContinuousClock.Instant, end: @Sendable () -> Void)] = [:]
        var last: UInt64 = 0
        var sleeper: Task<Void, Never>?
        /// When the sleeper wakes; nil if there is none.
        var wakes: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    deinit { state.withLock { $0.sleeper }?.cancel() }

    /// Calls `end` once when the time is up. `end` must return at once.
    ///
    /// - Parameter limit: Counted from now.
    /// - Returns: The id for ``remove(_:)``.
    func add(after limit: Duration, _ end: @escaping @Sendable () -> Void) -> UInt64 {
        let due = ContinuousClock.now + limit
        return state.withLock { state in
            state.last += 1
            state.waiting[state.last] = (due, end)
            if state.wakes.map({ due < $0 }) ?? true { sleep(until: due, &state) }
            return state.last
        }
    }

    /// Removes a deadline; a no-op if its time was up.
    func remove(_ id: UInt64) { state.withLock { _ = $0.waiting.removeValue(forKey: id) } }

    private func sleep(until due: ContinuousClock.Instant, _ state: inout State) {
        state.sleeper?.cancel()
        state.wakes = due
        state.sleeper = Task { [weak self] in
            do {
                try await Task.sleep(until: due, clock: .continuous)
            } catch {
                // Cancelled: an earlier deadline was added, or the timer is gone.
                return
            }
            self?.ring(due)
        }
    }

    private func ring(_ due: ContinuousClock.Instant) {
        let ends = state.withLock { state -> [@Sendable () -> Void] in
            // A sleeper that was cancelled too late leaves everything to the next one.
            guard state.wakes == due else { return [] }
            (state.sleeper, state.wakes) = (nil, nil)
            let now = ContinuousClock.now
            let over = state.waiting.filter { $0.value.due <= now }
            for id in over.keys { state.waiting[id] = nil }
            if let next = state.waiting.values.lazy.map(\.due).min() { sleep(until: next, &state) }
            return over.values.map(\.end)
        }
        for end in ends { end() }
    }
}
