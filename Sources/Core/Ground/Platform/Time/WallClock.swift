/// Where the time of the calendar comes from: the machine's clock, or one that a test sets.
package struct WallClock: Sendable {
    package let now: @Sendable () -> Timestamp
    /// What of it does not count yet where something irreversible follows; nil where it is believed.
    package let held: @Sendable () -> HeldTime?

    package init(
        now: @escaping @Sendable () -> Timestamp, held: @escaping @Sendable () -> HeldTime? = { nil }
    ) {
        (self.now, self.held) = (now, held)
    }

    /// CLOCK_REALTIME.
    package static let system = WallClock(now: Timestamp.now)
}

/// Wakes somebody at one time of the calendar.
package protocol WallAlarm: Sendable {
    /// From now on it is set to this time alone; nil for none. A time that has passed wakes at once.
    func set(_ time: Timestamp?)

    /// Sets it to this time if it is set to a later one, or to none.
    func bringForward(to time: Timestamp)
}
