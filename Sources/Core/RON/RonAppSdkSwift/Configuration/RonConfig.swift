import Foundation
import Logging

/// What a ``RonClient`` is made of (docs/design/ron.md, "Decisions"). A value that is nil is the default's.
public struct RonConfig: Sendable {
    /// The gateway, without `/app`; `http://` only together with ``allowInsecureHttp``.
    public var baseUrl: URL?
    /// From the start of a call to the last byte of its answer, in milliseconds; 10,000 unless given.
    public var overallTimeoutMs: Int?
    /// Until a connection is there, TLS included, in milliseconds; 3,000 unless given.
    public var connectTimeoutMs: Int?
    /// The longest silence while an answer is waited for, in milliseconds; 7,000 unless given.
    public var readTimeoutMs: Int?
    /// The longest standstill while a request is sent, in milliseconds; 5,000 unless given.
    public var writeTimeoutMs: Int?

    /// Sent as `Authorization`: as it is, where it names its scheme (`Macro abc`), and behind `Bearer ` otherwise.
    public var authToken: String?
    /// Sent as `X-RON-Passport`.
    public var passportToken: String?
    /// Asked for headers at each call, as for a token that changes. Where it throws, that call fails and nothing is sent.
    public var headerProvider: (@Sendable () async throws -> [String: String])?

    /// Makes the id of a call, which is sent as `x-request-id` and `x-correlation-id`; a UUID unless given.
    public var requestIdFactory: (@Sendable () -> String)?
    /// Makes the idempotency key of a write whose caller gives none: at most 64 visible ASCII characters. None unless
    /// given.
    public var idempotencyKeyFactory: (@Sendable () -> String)?

    /// Whether the base URL may be `http://`; for development on one machine.
    public var allowInsecureHttp: Bool
    /// Whether the log says more of each call: its headers, without credentials, and what the network said.
    public var debug: Bool
    /// Has no effect yet: the place of a choice that a later protocol offers.
    public var pqMode: PQMode

    /// Carries requests, instead of a transport of the client's own; the client does not close it.
    public var transport: (any RonTransport)?
    /// Where each call is logged, in one line of the level debug. Without one nothing is logged, unless ``debug`` is set.
    public var logger: Logger?

    /// See each request on its way out and each answer on its way in; the first one stands outermost.
    public var interceptors: [any RonInterceptor]
    /// Is told of each call.
    public var metrics: (any RonMetrics)?

    /// The longest body of an answer that is taken, in bytes; 16 MiB unless given.
    public var maxResponseBytes: Int?
    /// What goes before a facet's name, below `/app`; `/facets` unless given.
    public var facetPrefix: String?

    /// Told of each call with what is sent and where to; what is a credential by its name is left out, and so is the body,
    /// which may hold a password.
    ///
    /// Hooks run one after another on a thread beside the calls, so one may run when its call is over: one that is slow or
    /// throws holds up none. Where 1,000 of them wait, further ones are left out. ``RonClient/close()`` waits about a
    /// second for those that are to run.
    public var onRequest: (@Sendable (AppRequest, URL) throws -> Void)?
    /// Told of each call with what came of it, without its data and its bytes, which may hold a token; headers that are
    /// credentials by their names are left out. As ``onRequest`` else.
    ///
    /// Of a stream it is told each time that it connects, when the head of the answer is there; not of its events.
    public var onResponse: (@Sendable (AppResponse<Any>) throws -> Void)?

    /// A configuration; without values it has no base URL, and the default of everything else.
    ///
    /// - Parameters:
    ///   - baseUrl: The gateway.
    ///   - overallTimeoutMs: From the start of a call to the last byte of its answer.
    ///   - connectTimeoutMs: Until a connection is there.
    ///   - readTimeoutMs: The longest silence while an answer is waited for.
    ///   - writeTimeoutMs: The longest standstill while a request is sent.
    ///   - authToken: Sent as `Authorization`.
    ///   - passportToken: Sent as `X-RON-Passport`.
    ///   - headerProvider: Asked for headers at each call.
    ///   - requestIdFactory: Makes the id of a call.
    ///   - idempotencyKeyFactory: Makes the idempotency key of a write.
    ///   - allowInsecureHttp: Whether the base URL may be `http://`.
    ///   - debug: Whether the log says more of each call.
    ///   - pqMode: Has no effect yet.
    ///   - transport: Carries requests.
    ///   - logger: Where each call is logged.
    ///   - interceptors: See each request and each answer.
    ///   - metrics: Is told of each call.
    ///   - maxResponseBytes: The longest body of an answer that is taken.
    ///   - facetPrefix: What goes before a facet's name.
    ///   - onRequest: Told of each call that is sent.
    ///   - onResponse: Told of what came of each call.
    public init(
        baseUrl: URL? = nil, overallTimeoutMs: Int? = nil, connectTimeoutMs: Int? = nil, readTimeoutMs: Int? = nil,
        writeTimeoutMs: Int? = nil, authToken: String? = nil, passportToken: String? = nil,
        headerProvider: (@Sendable () async throws -> [String: String])? = nil,
        requestIdFactory: (@Sendable () -> String)? = nil, idempotencyKeyFactory: (@Sendable () -> String)? = nil,
        allowInsecureHttp: Bool = false, debug: Bool = false, pqMode: PQMode = .off,
        transport: (any RonTransport)? = nil, logger: Logger? = nil,
        interceptors: [any RonInterceptor] = [], metrics: (any RonMetrics)? = nil, maxResponseBytes: Int? = nil,
        facetPrefix: String? = nil, onRequest: (@Sendable (AppRequest, URL) throws -> Void)? = nil,
        onResponse: (@Sendable (AppResponse<Any>) throws -> Void)? = nil
    ) {
        self.baseUrl = baseUrl
        self.overallTimeoutMs = overallTimeoutMs
        self.connectTimeoutMs = connectTimeoutMs
        self.readTimeoutMs = readTimeoutMs
        self.writeTimeoutMs = writeTimeoutMs
        self.authToken = authToken
        self.passportToken = passportToken
        self.headerProvider = headerProvider
        self.requestIdFactory = requestIdFactory
        self.idempotencyKeyFactory = idempotencyKeyFactory
        self.allowInsecureHttp = allowInsecureHttp
        self.debug = debug
        self.pqMode = pqMode
        self.transport = transport
        self.logger = logger
        self.interceptors = interceptors
        self.metrics = metrics
        self.maxResponseBytes = maxResponseBytes
        self.facetPrefix = facetPrefix
        self.onRequest = onRequest
        self.onResponse = onResponse
    }
}

/// How keys are agreed on against later quantum computers; there is nothing to choose from yet.
public enum PQMode: String, Sendable, CaseIterable {
    /// As TLS does it.
    case off
}
