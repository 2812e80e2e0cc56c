import HTTPKit

/// Tells a node that a facet is there, and that it still is (docs/design/ron.md, "Decisions").
///
/// No server has routes for that yet, so paths and bodies are our own proposal, and the paths are settings: a manifest is
/// sent by POST to ``Settings/registerPath``, and `{"id": "…"}` to ``Settings/heartbeatPath``.
public struct FacetRegistration: Sendable {
    /// Where a facet is registered, and how often it shows that it is there.
    public struct Settings: Sendable {
        /// Where the manifest is sent to, below `/app`.
        public var registerPath: String
        /// Where heartbeats are sent to, below `/app`.
        public var heartbeatPath: String
        /// From one heartbeat to the next; longer than 0.
        public var interval: Duration
        /// The wait after a first failure, longer than 0; it doubles up to the interval.
        public var firstDelay: Duration
        /// By what part of itself a wait after a failure is varied at most, from 0 to 1.
        public var jitter: Double
        /// By what time is waited; tests put their own here.
        public var clock: any Clock<Duration>
        /// Where the variation of waits comes from.
        public var generator: any RandomNumberGenerator & Sendable

        /// Makes settings.
        ///
        /// - Parameters:
        ///   - registerPath: Where the manifest is sent to.
        ///   - heartbeatPath: Where heartbeats are sent to.
        ///   - interval: From one heartbeat to the next.
        ///   - firstDelay: The wait after a first failure.
        ///   - jitter: By what part of itself a wait after a failure is varied at most, from 0 to 1.
        ///   - clock: By what time is waited.
        ///   - generator: Where the variation of waits comes from.
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

        /// Refuses what would ask a node without a pause, or never.
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

    /// What a server may ask for at least; a longer interval allows more.
    private static let longestWait = Duration.seconds(300)

    private struct Heartbeat: Encodable, Sendable { let id: String }

    private let client: RonClient
    private let manifest: FacetManifest
    private let settings: Settings

    /// Prepares a registration; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - client: What makes the calls.
    ///   - manifest: What is registered.
    ///   - settings: Where, and how often it shows that it is there.
    /// - Throws: ``FacetManifestError``, where a node's loader would refuse the manifest; files are not looked for.
    ///   ``SdkConfigError``, where the settings ask a node without a pause.
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
    /// - Returns: What came of it.
    public func register() async -> AppResponse<NoContent> { await client.post(settings.registerPath, body: manifest) }

    /// Shows that the facet is there, once.
    ///
    /// - Returns: What came of it.
    public func heartbeat() async -> AppResponse<NoContent> {
        await client.post(settings.heartbeatPath, body: Heartbeat(id: manifest.id))
    }

    /// Registers the facet, and shows that it is there until the task is cancelled; returns then.
    ///
    /// What fails is tried again after a wait that doubles up to the interval, and is not shorter than what the server
    /// asked for by ``RonProblem/retryAfterMs``: of that, the interval or five minutes count at most, whichever is
    /// longer, so that no answer silences a facet for days. A node that knows the facet no more (status 404 or 410) gets its
    /// manifest again: nodes may forget everything at any time.
    ///
    /// - Parameter onFailure: Told of each failure, on the task of this call.
    /// - Throws: ``RonProblem``, where the node refuses the manifest for good: a problem that is not retryable.
    public func run(onFailure: @Sendable (RonProblem) -> Void = { _ in }) async throws(RonProblem) {
        var backoff = Backoff(
            first: settings.firstDelay, longest: settings.interval, jitter: settings.jitter,
            generator: settings.generator)
        var isRegistered = false
        var failures = 0
        while !Task.isCancelled {
            let problem = isRegistered ? await heartbeat().problem : await register().problem
            if Task.isCancelled { return }
            var wait = settings.interval
            if let problem {
                onFailure(problem)
                guard isRegistered || problem.retryable == true else { throw problem }
                if [404, 410].contains(problem.status) { isRegistered = false }
                failures += 1
                let asked = problem.retryAfterMs.map { ms in
                    min(.milliseconds(ms), max(settings.interval, Self.longestWait))
                }
                wait = backoff.wait(failures: failures, asked: asked)
            } else {
                isRegistered = true
                failures = 0
            }
            do {
                try await settings.clock.sleep(for: wait)
            } catch {
                return
            }
        }
    }
}
