/// Long work in many parts, which a service manager may be waiting for. Each finished part extends the timeout; a part
/// that hangs does not.
package struct LongWork {
    /// Minimum seconds between two extensions.
    package static let pause = 30.0
    /// Seconds requested by each extension.
    package static let more = 600

    private let manager: SystemNotification
    private var told: ContinuousClock.Instant

    /// - Parameter now: the start of the work.
    package init(_ manager: SystemNotification = .manager, from now: ContinuousClock.Instant = .now) {
        (self.manager, told) = (manager, now)
    }

    /// One part is done.
    package mutating func advanced(at now: ContinuousClock.Instant = .now) {
        guard manager.isHeard, told.duration(to: now) >= .seconds(Self.pause) else { return }
        told = now
        manager.send("EXTEND_TIMEOUT_USEC=\(Self.more * 1_000_000)")
    }
}
