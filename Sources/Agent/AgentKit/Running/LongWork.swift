/// Work of many parts that a service manager may be waiting for: it gets more time for as long as the parts come to their
/// ends, and none where one does not.
package struct LongWork {
    /// Seconds between two words.
    package static let pause = 30.0
    /// Seconds that each of them asks for.
    package static let more = 600

    private let manager: SystemNotification
    private var told: ContinuousClock.Instant

    /// - Parameter now: when it begins.
    package init(_ manager: SystemNotification = .manager, from now: ContinuousClock.Instant = .now) {
        (self.manager, told) = (manager, now)
    }

    /// One part has come to its end.
    package mutating func advanced(at now: ContinuousClock.Instant = .now) {
        guard manager.isHeard, told.duration(to: now) >= .seconds(Self.pause) else { return }
        told = now
        manager.send("EXTEND_TIMEOUT_USEC=\(Self.more * 1_000_000)")
    }
}
