import Synchronization

/// Ends what has a limit in time: one sleeping task for all of it, as a timer for each call costs as much as the call.
///
/// The task sleeps until the earliest limit that it knew of when it fell asleep, so calls that end in time wake nobody; it
/// ends when nothing is left.
final class DeadlineTimer: Sendable {
    private struct State {
        var waiting: [UInt64: (due: ContinuousClock.Instant, end: @Sendable () -> Void)] = [:]
        var last: UInt64 = 0
        var sleeper: Task<Void, Never>?
        /// When the sleeper wakes; nil without one.
        var wakes: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.sleeper }?.cancel() }

    /// Ends something when its time is up.
    ///
    /// - Parameters:
    ///   - limit: From now on.
    ///   - end: Called then, once, on no particular task; has to return at once.
    /// - Returns: What ``remove(_:)`` takes.
    func add(after limit: Duration, _ end: @escaping @Sendable () -> Void) -> UInt64 {
        let due = ContinuousClock.now + limit
        return state.withLock { state in
            state.last += 1
            state.waiting[state.last] = (due, end)
            if state.wakes.map({ due < $0 }) ?? true { sleep(until: due, &state) }
            return state.last
        }
    }

    /// Leaves something alone that has ended by itself; what has been ended already stays so.
    ///
    /// - Parameter id: What ``add(after:_:)`` has given.
    func remove(_ id: UInt64) { state.withLock { _ = $0.waiting.removeValue(forKey: id) } }

    private func sleep(until due: ContinuousClock.Instant, _ state: inout State) {
        state.sleeper?.cancel()
        state.wakes = due
        state.sleeper = Task { [weak self] in
            do {
                try await Task.sleep(until: due, clock: .continuous)
            } catch {
                // Cancelled, as an earlier limit has come, or the timer is gone.
                return
            }
            self?.ring(due)
        }
    }

    private func ring(_ due: ContinuousClock.Instant) {
        let ends = state.withLock { state -> [@Sendable () -> Void] in
            // One that was cancelled too late leaves all to the other.
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
