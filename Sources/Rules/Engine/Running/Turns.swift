/// What is to be done for each of some keys, one thing at a time: a key is ready, at work or waiting, and who asks for one
/// that is at work gets another turn for it. What ``Scheduler`` is for jobs this is for what has no limits of its own: the
/// lanes of the outbox, the places where something is due. A value, without a clock or a thread, as that is.
package struct Turns<Key: Hashable & Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// How somebody asks for a key.
    package enum Asked: Comparable, Sendable {
        /// What it waits for is waited for.
        case afterWait
        case now
    }

    /// What has become of a turn.
    package enum End: Equatable, Sendable {
        /// Nothing is left to be done.
        case done
        /// There may be more.
        case again
        case wait(seconds: Double)
        /// Until somebody asks with ``Asked/now``.
        case waitForWord
    }

    private enum State {
        case ready
        /// - Parameter asked: how somebody has asked for it meanwhile.
        case atWork(asked: Asked?)
        case waiting
    }

    /// Those of which nothing is to be done are not in it.
    private var states: [Key: State] = [:]
    private var wakeups = Wakeups<Key>()

    /// With nothing to do.
    package init() {}

    /// - Returns: whether it is ready now, and was not before.
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

    /// - Parameter key: one that is ready; it is at work from now on.
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

    /// Those that have waited long enough, and are ready now. To be called when the timer goes off, and only then.
    package mutating func takeDue(_ now: Instant) -> [Key] {
        let due = wakeups.takeDue(now)
        for key in due { states[key] = .ready }
        return due
    }

    /// For when the timer has to be set anew; nil where the one that is set goes off early enough, or nothing waits.
    ///
    /// - Parameter other: another time for which it is to be set, if that is earlier.
    package mutating func timer(orFor other: Instant? = nil) -> Instant? { wakeups.timer(orFor: other) }

    /// Whether any key is at work.
    package var isAnyAtWork: Bool {
        states.values.contains { state in
            if case .atWork = state { return true }
            return false
        }
    }
}
