import Platform

/// Deadlines that share one timer, set to the earliest of them. The clock is monotonic and continues during suspend.
struct Wakeups<Key: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    private var deadlines = DeadlineHeap<Key, Instant>()
    /// When the current timer goes off; nil if none is set.
    private var armed: Instant?

    init() {}

    /// Sets the key's deadline, replacing an earlier one.
    mutating func set(_ key: Key, at time: Instant) { deadlines.set(key, due: time) }

    /// - Returns: whether the key was waiting.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool { deadlines.remove(key) }

    /// Takes the keys whose deadline has passed. Call only when the timer goes off: it is not set any more.
    mutating func takeDue(_ now: Instant) -> [Key] {
        armed = nil
        return deadlines.dequeue(upTo: now)
    }

    /// The time to set the timer to; nil if the current timer is early enough, or nothing waits.
    ///
    /// - Parameter other: another time to consider, if it is earlier.
    mutating func timer(orFor other: Instant? = nil) -> Instant? {
        guard let time = [deadlines.earliest(), other].compactMap(\.self).min() else { return nil }
        if let armed, armed <= time { return nil }
        armed = time
        return time
    }
}
