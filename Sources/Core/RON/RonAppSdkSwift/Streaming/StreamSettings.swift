/// The settings of a stream (docs/design/ron.md, "Decisions"): when it reconnects, and when it gives up.
public struct StreamSettings: Sendable {
    /// The delay before the second attempt; it doubles for each further one. A server's `retry:` overrides it.
    public var firstDelay: Duration
    /// The maximum delay from doubling.
    public var longestDelay: Duration
    /// The maximum variation of a delay as a fraction of it, so that clients do not all reconnect at once: 0.5 is ± 50
    /// %. A delay requested by the server is only lengthened.
    public var jitter: Double
    /// The maximum number of connections in a row without an event; the next failure is thrown. Heartbeats do not count
    /// as events.
    public var tries: Int
    /// The idle timeout of a connection; comments and heartbeats reset it. nil for none.
    public var idleTimeout: Duration?
    /// The bounds of a server's `retry:`.
    public var retryBounds: ClosedRange<Duration>
    /// The maximum Retry-After of a server; a longer one ends the stream with its problem.
    public var longestRetryAfter: Duration
    /// The maximum length of a line, and of one event's data, in bytes.
    public var eventLimit: Int
    /// Names of events that only keep the connection alive: they reset the idle timeout, and nothing else. Decoded
    /// streams skip them.
    public var heartbeats: Set<String>
    /// The id of the last event of an earlier stream; the server continues after it.
    public var lastEventID: String?
    /// The clock for delays; tests inject their own.
    public var clock: any Clock<Duration>
    /// The source of the jitter; each stream starts with a copy.
    public var generator: any RandomNumberGenerator & Sendable

    /// Creates settings; the defaults are those of the Python client.
    ///
    /// - Parameters:
    ///   - firstDelay: The delay before the second attempt.
    ///   - longestDelay: The maximum delay from doubling.
    ///   - jitter: The maximum variation of a delay as a fraction of it, from 0 to 1.
    ///   - tries: The maximum number of connections in a row without an event; at least 1.
    ///   - idleTimeout: The idle timeout of a connection; nil for none.
    ///   - retryBounds: The bounds of a server's `retry:`.
    ///   - longestRetryAfter: The maximum Retry-After of a server.
    ///   - eventLimit: The maximum length of a line, and of one event's data, in bytes.
    ///   - heartbeats: Names of events that only keep the connection alive.
    ///   - lastEventID: The id of the last event of an earlier stream.
    ///   - clock: The clock for delays.
    ///   - generator: The source of the jitter.
    public init(
        firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(10), jitter: Double = 0.5,
        tries: Int = 5, idleTimeout: Duration? = .seconds(60),
        retryBounds: ClosedRange<Duration> = .milliseconds(100)...(.seconds(60)),
        longestRetryAfter: Duration = .seconds(300), eventLimit: Int = 1 << 20, heartbeats: Set<String> = ["heartbeat"],
        lastEventID: String? = nil, clock: any Clock<Duration> = ContinuousClock(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.jitter = jitter
        self.tries = tries
        self.idleTimeout = idleTimeout
        self.retryBounds = retryBounds
        self.longestRetryAfter = longestRetryAfter
        self.eventLimit = eventLimit
        self.heartbeats = heartbeats
        self.lastEventID = lastEventID
        self.clock = clock
        self.generator = generator
    }

    /// Refuses invalid settings.
    ///
    /// - Throws: ``SdkConfigError`` that names the setting.
    func check() throws(SdkConfigError) {
        func require(_ holds: Bool, _ setting: String, _ message: String) throws(SdkConfigError) {
            if !holds { throw SdkConfigError(setting: "StreamSettings.\(setting)", message: message) }
        }
        try require(firstDelay >= .zero, "firstDelay", "\(firstDelay) is negative; give 0 or more")
        try require(longestDelay >= firstDelay, "longestDelay", "\(longestDelay) is shorter than firstDelay")
        try require((0...1).contains(jitter), "jitter", "\(jitter) is not from 0 to 1")
        try require(tries >= 1, "tries", "\(tries) is less than the one that every stream needs")
        try require(
            idleTimeout.map { $0 > .zero } ?? true, "idleTimeout", "It must be longer than 0; nil waits for ever")
        try require(retryBounds.lowerBound >= .zero, "retryBounds", "\(retryBounds.lowerBound) is negative")
        try require(eventLimit >= 1, "eventLimit", "\(eventLimit) leaves no byte for an event")
    }
}
