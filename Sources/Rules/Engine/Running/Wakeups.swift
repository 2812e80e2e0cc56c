import Platform

/// What waits for a time, and for when the one timer has to be set that waits for the earliest. Times are of a clock that
/// nobody sets and that goes on while the machine sleeps.
struct Wakeups<Key: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    private var deadlines = DeadlineHeap<Key, Instant>()
    /// For when the timer is set; nil where none is.
    private var armed: Instant?

    /// With nothing that waits.
    init() {}

    /// Has a key wait until then, instead of any time that it has waited for.
    mutating func set(_ key: Key, at time: Instant) { deadlines.set(key, due: time) }

    /// - Returns: whether the key has waited.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool { deadlines.remove(key) }

    /// Takes out what has waited long enough. To be called when the timer goes off, and only then: none is set any more.
    mutating func takeDue(_ now: Instant) -> [Key] {
        armed = nil
        return deadlines.dequeue(upTo: now)
    }

    /// For when the timer has to be set anew; nil where the one that is set goes off early enough, or nothing waits.
    ///
    /// - Parameter other: another time for which it is to be set, if that is earlier.
    mutating func timer(orFor other: Instant? = nil) -> Instant? {
        guard let time = [deadlines.earliest(), other].compactMap(\.self).min() else { return nil }
        if let armed, armed <= time { return nil }
        armed = time
        return time
    }
}
