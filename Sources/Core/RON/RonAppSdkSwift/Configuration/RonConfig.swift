import Foundation
import Logging

/// The configuration of a ``RonClient`` (docs/design/ron.md, "Decisions"). nil means the default.
public struct RonConfig: Sendable {
    /// The gateway, without `/app`; `http://` only together with ``allowInsecureHttp``.
    public var baseUrl: URL?
    /// The timeout from the start of a call to the last byte of its answer, in milliseconds; 10,000 by default.
    public var overallTimeoutMs: Int?
    /// The timeout to establish a connection, including TLS, in milliseconds; 3,000 by default.
    public var connectTimeoutMs: Int?
    /// The idle timeout while waiting for an answer, in milliseconds; 7,000 by default.
    public var readTimeoutMs: Int?
    /// The idle timeout while sending a request, in milliseconds; 5,000 by default.
    public var writeTimeoutMs: Int?

    /// Sent as `Authorization`: unchanged if it includes its scheme (`Macro abc`), otherwise with the prefix `Bearer `.
    public var authToken: String?
    /// Sent as `X-RON-Passport`.
    public var passportToken: String?
    /// Called for headers before each call, for example for a rotating token. If it throws, that call fails and nothing
    /// is sent.
    public var headerProvider: (@Sendable () async throws -> [String: String])?

    /// Makes the id of a call, which is sent as `x-request-id` and `x-correlation-id`; a UUID by default.
    public var requestIdFactory: (@Sendable () -> String)?
    /// Makes the idempotency key of a write whose caller provides none: at most 64 visible ASCII characters. No key by
    /// default.
    public var idempotencyKeyFactory: (@Sendable () -> String)?

    /// Whether the base URL may be `http://`; for development on one machine.
    public var allowInsecureHttp: Bool
    /// Whether the log includes details of each call: its headers, without credentials, and network errors.
    public var debug: Bool
    /// Has no effect yet; reserved for a later protocol.
    public var pqMode: PQMode

    /// Sends requests in place of the client's own transport; the client does not close it.
    public var transport: (any RonTransport)?
    /// Logs each call in one line at debug level. Without a logger nothing is logged, unless ``debug`` is set.
    public var logger: Logger?

    /// Process each outgoing request and each incoming answer; the first one is outermost.
    public var interceptors: [any RonInterceptor]
    /// Receives metrics of each call.
    public var metrics: (any RonMetrics)?

    /// The maximum body of an answer, in bytes; 16 MiB by default.
    public var maxResponseBytes: Int?
    /// The prefix of a facet's name, below `/app`; `/facets` by default.
    public var facetPrefix: String?

    /// Called for each call with the request and its URL, without credentials (recognised by name) and without the
    /// body, which may contain a password.
    ///
    /// Hooks run one at a time on a separate thread, possibly after their call is over: a slow or throwing hook blocks
    /// nothing. Once 1,000 are pending, further ones are dropped. ``RonClient/close()`` waits about a second for
    /// pending ones.
    public var onRequest: (@Sendable (AppRequest, URL) throws -> Void)?
    /// Called for each call with its result, without data and raw bytes, which may contain a token, and without headers
    /// that are credentials by name. Otherwise like ``onRequest``.
    ///
    /// For a stream it is called at each connection, when the answer's head has arrived; not for its events.
    public var onResponse: (@Sendable (AppResponse<Any>) throws -> Void)?

    /// A configuration; by default it has no base URL, and defaults for everything else.
    ///
    /// - Parameters:
    ///   - baseUrl: The gateway.
    ///   - overallTimeoutMs: The timeout from the start of a call to the last byte of its answer.
    ///   - connectTimeoutMs: The timeout to establish a connection.
    ///   - readTimeoutMs: The idle timeout while waiting for an answer.
    ///   - writeTimeoutMs: The idle timeout while sending a request.
    ///   - authToken: Sent as `Authorization`.
    ///   - passportToken: Sent as `X-RON-Passport`.
    ///   - headerProvider: Called for headers before each call.
    ///   - requestIdFactory: Makes the id of a call.
    ///   - idempotencyKeyFactory: Makes the idempotency key of a write.
    ///   - allowInsecureHttp: Whether the base URL may be `http://`.
    ///   - debug: Whether the log includes details of each call.
    ///   - pqMode: Has no effect yet.
    ///   - transport: Sends requests.
    ///   - logger: Logs each call.
    ///   - interceptors: Process each request and each answer.
    ///   - metrics: Receives metrics of each call.
    ///   - maxResponseBytes: The maximum body of an answer.
    ///   - facetPrefix: The prefix of a facet's name.
    ///   - onRequest: Called for each call that is sent.
    ///   - onResponse: Called with the result of each call.
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

/// Post-quantum key agreement; there are no choices yet.
public enum PQMode: String, Sendable, CaseIterable {
    /// TLS's default.
    case off
}
