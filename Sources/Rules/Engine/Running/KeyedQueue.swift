/// Work per key, one item at a time. A key is ready, at work or waiting; asking for a key that is at work gives it
/// another turn. This is the simple counterpart of ``Scheduler``, for work without limits: the outbox queues, and
/// places with something due. A value without a clock or threads.
package struct KeyedQueue<Key: Hashable & Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// How a key is asked for.
    package enum Asked: Comparable, Sendable {
        /// Only after its current wait.
        case afterWait
        case now
    }

    /// How a turn ended.
    package enum End: Equatable, Sendable {
        /// Nothing is left to do.
        case done
        /// There may be more.
        case again
        case wait(seconds: Double)
        /// Until the key is asked for with ``Asked/now``.
        case waitForWord
    }

    private enum State {
        case ready
        /// - Parameter asked: how it was requested during the turn.
        case atWork(asked: Asked?)
        case waiting
    }

    /// Keys with nothing to do are absent.
    private var states: [Key: State] = [:]
    private var wakeups = Wakeups<Key>()

    package init() {}

    /// - Returns: whether the key has just become ready.
    package mutating func ask(_ key: Key, _ asked: Asked) -> Bool {
        switch states[key] {
        case .ready: return false
        case .atWork(let other):
            states[key] = .atWork(asked: max(asked, other ?? asked))
            return false
        case .waiting where asked == .afterWait: return false
        case nil, .waiting:
            wakeups.remove(key)
            states[key] = .ready
            return true
        }
    }

    /// - Parameter key: a ready key; it is at work from now on.
    package mutating func begin(_ key: Key) {
        guard case .ready = states[key] else { return }
        states[key] = .atWork(asked: nil)
    }

    /// - Parameter key: one that was at work.
    /// - Returns: whether it is ready again.
    package mutating func ended(_ key: Key, _ end: End, _ now: Instant) -> Bool {
        guard case .atWork(let asked) = states[key] else { return false }
        switch (end, asked) {
        case (_, .now), (.again, _), (.done, .afterWait): states[key] = .ready
        case (.done, nil): states[key] = nil
        case (.waitForWord, _): states[key] = .waiting
        case (.wait(let seconds), _):
            states[key] = .waiting
            wakeups.set(key, at: now.advanced(by: .seconds(max(0, seconds))))
        }
        if case .ready = states[key] { return true }
        return false
    }

    /// The keys whose wait is over; they are ready now. Call only when the timer goes off.
    package mutating func takeDue(_ now: Instant) -> [Key] {
        let due = wakeups.takeDue(now)
        for key in due { states[key] = .ready }
        return due
    }

    /// The time to set the timer to; nil if the current timer is early enough, or nothing waits.
    ///
    /// - Parameter other: another time to consider, if it is earlier.
    package mutating func timer(orFor other: Instant? = nil) -> Instant? { wakeups.timer(orFor: other) }

    /// Whether any key is at work.
    package var isAnyAtWork: Bool {
        states.values.contains { state in
            if case .atWork = state { return true }
            return false
        }
    }
}
