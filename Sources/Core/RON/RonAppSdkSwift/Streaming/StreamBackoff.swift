import Platform

/// The backoff of a stream's reconnects, and when it gives up.
struct StreamBackoff {
    private let settings: StreamSettings
    private var backoff: Backoff
    /// Connections since the last event other than a heartbeat.
    private var connections = 0
    /// The server's last `retry:`, clamped to the bounds.
    private var retry: Duration?

    init(_ settings: StreamSettings) {
        self.settings = settings
        backoff = Backoff(
            first: settings.firstDelay, longest: settings.longestDelay, jitter: settings.jitter,
            generator: settings.generator)
    }

    /// A connection is about to be made.
    mutating func connects() { connections += 1 }

    /// An event arrived: resets the count of failures.
    mutating func receivedEvent() { connections = 0 }

    /// The server requested this delay in milliseconds before each reconnect.
    mutating func serverAsked(milliseconds: Int) {
        let bounds = settings.retryBounds
        let time = min(max(.milliseconds(milliseconds), bounds.lowerBound), bounds.upperBound)
        retry = time
        backoff.first = time
    }

    /// A connection has ended.
    ///
    /// - Parameter retryAfter: The wait requested by the answer, if any.
    /// - Returns: The delay before the next one; nil to give up.
    mutating func wait(retryAfter: Duration?) -> Duration? {
        guard connections < settings.tries else { return nil }
        if let retryAfter, retryAfter > settings.longestRetryAfter { return nil }
        return backoff.delay(failures: connections, asked: [retry, retryAfter].compactMap { $0 }.max())
    }
}
