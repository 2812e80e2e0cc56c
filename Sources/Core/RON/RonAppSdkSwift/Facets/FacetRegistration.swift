import Platform

/// Registers a facet with a node, and sends heartbeats (docs/design/ron.md, "Decisions").
///
/// No server has routes for that yet, so paths and bodies are our own proposal, and the paths are settings: a manifest
/// is sent by POST to ``Settings/registerPath``, and `{"id": "…"}` to ``Settings/heartbeatPath``.
public struct FacetRegistration: Sendable {
    /// The paths and intervals of a registration.
    public struct Settings: Sendable {
        /// The path for the manifest, below `/app`.
        public var registerPath: String
        /// The path for heartbeats, below `/app`.
        public var heartbeatPath: String
        /// The interval between heartbeats; greater than 0.
        public var interval: Duration
        /// The backoff after a first failure, greater than 0; it doubles up to the interval.
        public var firstDelay: Duration
        /// The maximum variation of a backoff as a fraction of it, from 0 to 1.
        public var jitter: Double
        /// The clock for delays; tests inject their own.
        public var clock: any Clock<Duration>
        /// The source of the jitter.
        public var generator: any RandomNumberGenerator & Sendable

        /// Creates settings.
        ///
        /// - Parameters:
        ///   - registerPath: The path for the manifest.
        ///   - heartbeatPath: The path for heartbeats.
        ///   - interval: The interval between heartbeats.
        ///   - firstDelay: The backoff after a first failure.
        ///   - jitter: The maximum variation of a backoff as a fraction of it, from 0 to 1.
        ///   - clock: The clock for delays.
        ///   - generator: The source of the jitter.
        public init(
            registerPath: String = "/facets/register", heartbeatPath: String = "/facets/heartbeat",
            interval: Duration = .seconds(30), firstDelay: Duration = .milliseconds(500), jitter: Double = 0.5,
            clock: any Clock<Duration> = ContinuousClock(),
            generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
        ) {
            self.registerPath = registerPath
            self.heartbeatPath = heartbeatPath
            self.interval = interval
            self.firstDelay = firstDelay
            self.jitter = jitter
            self.clock = clock
            self.generator = generator
        }

        /// Refuses settings that would call a node without a pause, or never.
        ///
        /// - Throws: ``SdkConfigError`` that names the setting.
        func check() throws(SdkConfigError) {
            func require(_ holds: Bool, _ setting: String, _ message: String) throws(SdkConfigError) {
                if !holds { throw SdkConfigError(setting: "FacetRegistration.Settings.\(setting)", message: message) }
            }
            try require(interval > .zero, "interval", "\(interval) is no pause; give more than 0")
            try require(firstDelay > .zero, "firstDelay", "\(firstDelay) is no pause; give more than 0")
            try require((0...1).contains(jitter), "jitter", "\(jitter) is not from 0 to 1")
        }
    }

    /// The longest wait that a server may always request; a longer interval allows more.
    private static let longestWait = Duration.seconds(300)

    private struct Heartbeat: Encodable, Sendable { let id: String }

    private let client: RonClient
    private let manifest: FacetManifest
    private let settings: Settings

    /// Prepares a registration; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - client: The client that makes the calls.
    ///   - manifest: The manifest to register.
    ///   - settings: The paths and intervals.
    /// - Throws: ``FacetManifestError`` if a node's loader would refuse the manifest; files are not checked.
    ///   ``SdkConfigError`` if the settings would call a node without a pause.
    public init(client: RonClient, manifest: FacetManifest, settings: Settings = Settings()) throws {
        try settings.check()
        let findings = manifest.findings()
        guard findings.isEmpty else { throw FacetManifestError(findings: findings) }
        self.client = client
        self.manifest = manifest
        self.settings = settings
    }

    /// Registers the facet, once.
    ///
    /// - Returns: The result.
    public func register() async -> AppResponse<NoContent> { await client.post(settings.registerPath, body: manifest) }

    /// Sends one heartbeat.
    ///
    /// - Returns: The result.
    public func heartbeat() async -> AppResponse<NoContent> {
        await client.post(settings.heartbeatPath, body: Heartbeat(id: manifest.id))
    }

    /// Registers the facet, and sends heartbeats until the task is cancelled; returns then.
    ///
    /// Failures are retried after a backoff that doubles up to the interval, and is at least the server's
    /// ``RonProblem/retryAfterMs``. That is capped at the interval or five minutes, whichever is longer, so that no
    /// answer silences a facet for days. A node that no longer knows the facet (status 404 or 410) gets its manifest
    /// again: nodes may forget everything at any time.
    ///
    /// - Parameter onFailure: Called for each failure, on the task of this call.
    /// - Throws: ``RonProblem`` if the node refuses the manifest permanently: a problem that is not retryable.
    public func run(onFailure: @Sendable (RonProblem) -> Void = { _ in }) async throws(RonProblem) {
        var backoff = Backoff(
            first: settings.firstDelay, longest: settings.interval, jitter: settings.jitter,
            generator: settings.generator)
        var isRegistered = false
        while !Task.isCancelled {
            let problem = isRegistered ? await heartbeat().problem : await register().problem
            if Task.isCancelled { return }
            var wait = settings.interval
            if let problem {
                onFailure(problem)
                guard isRegistered || problem.retryable == true else { throw problem }
                if [404, 410].contains(problem.status) { isRegistered = false }
                let asked = problem.retryAfterMs.map { ms in
                    min(.milliseconds(ms), max(settings.interval, Self.longestWait))
                }
                wait = backoff.next(asked: asked)
            } else {
                isRegistered = true
                backoff.reset()
            }
            do {
                try await settings.clock.sleep(for: wait)
            } catch {
                return
            }
        }
    }
}
