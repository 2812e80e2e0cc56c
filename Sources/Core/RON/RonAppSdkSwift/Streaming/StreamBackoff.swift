import HTTPKit

/// How long a stream waits before it connects anew, and when it has tried often enough.
struct StreamBackoff {
    private let settings: StreamSettings
    private var backoff: Backoff
    /// Connections since the last event that is no heartbeat.
    private var connections = 0
    /// What the server's last `retry:` asked for, within the bounds.
    private var retry: Duration?

    init(_ settings: StreamSettings) {
        self.settings = settings
        backoff = Backoff(
            first: settings.firstDelay, longest: settings.longestDelay, jitter: settings.jitter,
            generator: settings.generator)
    }

    /// A connection is about to be made.
    mutating func connects() { connections += 1 }

    /// An event came: whatever failed before is forgotten.
    mutating func receivedEvent() { connections = 0 }

    /// The server asked to be left alone for so many milliseconds before each new connection.
    mutating func serverAsked(milliseconds: Int) {
        let bounds = settings.retryBounds
        let time = min(max(.milliseconds(milliseconds), bounds.lowerBound), bounds.upperBound)
        retry = time
        backoff.first = time
    }

    /// A connection has ended.
    ///
    /// - Parameter retryAfter: What the answer asked to wait, if it did.
    /// - Returns: How long to wait before the next one; nil where there shall be none.
    mutating func wait(retryAfter: Duration?) -> Duration? {
        guard connections < settings.tries else { return nil }
        if let retryAfter, retryAfter > settings.longestRetryAfter { return nil }
        return backoff.wait(failures: connections, asked: [retry, retryAfter].compactMap { $0 }.max())
    }
}
