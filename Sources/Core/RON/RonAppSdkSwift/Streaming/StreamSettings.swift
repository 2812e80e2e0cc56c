/// How a stream is held open (docs/design/ron.md, "Decisions"): when it connects anew, and when it gives up.
public struct StreamSettings: Sendable {
    /// The wait before the second try; each further one waits twice as long. A server's `retry:` takes its place.
    public var firstDelay: Duration
    /// The longest wait that doubling leads to.
    public var longestDelay: Duration
    /// By what part of itself a wait is varied at most, so that clients do not come back all at once: 0.5 is ± 50 %. A wait
    /// that the server asked for only gets longer.
    public var jitter: Double
    /// How many connections in a row may end without an event; the next failure is the caller's. Heartbeats do not count.
    public var tries: Int
    /// After how long a silence a connection is given up; comments and heartbeats break it. Nil waits for ever.
    public var idleTimeout: Duration?
    /// What a server's `retry:` is held to.
    public var retryBounds: ClosedRange<Duration>
    /// The longest wait that a server may ask for by Retry-After; a longer one ends the stream with its problem.
    public var longestRetryAfter: Duration
    /// The longest line, and the longest data of one event, in bytes.
    public var eventLimit: Int
    /// Names of events that only show that the connection is alive: they break a silence, and that is all. Decoded streams
    /// pass over them.
    public var heartbeats: Set<String>
    /// The id of the last event that was seen in an earlier stream; the server goes on behind it.
    public var lastEventID: String?
    /// By what time is waited; tests put their own here.
    public var clock: any Clock<Duration>
    /// Where the variation of waits comes from; each stream begins with a copy.
    public var generator: any RandomNumberGenerator & Sendable

    /// Makes settings; without values they are those of the Python client.
    ///
    /// - Parameters:
    ///   - firstDelay: The wait before the second try.
    ///   - longestDelay: The longest wait that doubling leads to.
    ///   - jitter: By what part of itself a wait is varied at most, from 0 to 1.
    ///   - tries: How many connections in a row may end without an event; at least 1.
    ///   - idleTimeout: After how long a silence a connection is given up; nil waits for ever.
    ///   - retryBounds: What a server's `retry:` is held to.
    ///   - longestRetryAfter: The longest wait that a server may ask for by Retry-After.
    ///   - eventLimit: The longest line, and the longest data of one event, in bytes.
    ///   - heartbeats: Names of events that only show that the connection is alive.
    ///   - lastEventID: The id of the last event that was seen in an earlier stream.
    ///   - clock: By what time is waited.
    ///   - generator: Where the variation of waits comes from.
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

    /// Refuses what no stream can be held open by.
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
