/// The source of wall-clock time: the machine's clock, or one set by a test.
package struct WallClock: Sendable {
    package let now: @Sendable () -> Timestamp
    /// The part of the time that must not be trusted for anything irreversible; nil if the clock is believed.
    package let held: @Sendable () -> HeldTime?

    package init(
        now: @escaping @Sendable () -> Timestamp, held: @escaping @Sendable () -> HeldTime? = { nil }
    ) {
        (self.now, self.held) = (now, held)
    }

    /// CLOCK_REALTIME.
    package static let system = WallClock(now: Timestamp.now)
}

/// An alarm at a wall-clock time.
package protocol WallAlarm: Sendable {
    /// Sets the alarm to this time only; nil for none. A past time fires at once.
    func set(_ time: Timestamp?)

    /// Sets the alarm to this time if it is set to a later one, or to none.
    func bringForward(to time: Timestamp)
}
