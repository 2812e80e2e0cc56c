/// An HTTP method supported by the app plane.
public enum HTTPVerb: String, Sendable, CaseIterable {
    /// Reads; a body is never sent.
    case get = "GET"
    /// Creates, or starts an operation.
    case post = "POST"
    /// Replaces.
    case put = "PUT"
    /// Updates in part.
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"

    /// Whether the call changes something on the server; such calls carry an idempotency key, if there is one.
    public var isWrite: Bool { self != .get }
}

/// One call to the app plane, before the client adds its own parts.
public struct AppRequest: Sendable {
    /// The method.
    public var method: HTTPVerb
    /// The path below `/app`, as plain text: it is percent-encoded when it is sent, so that `%` goes out as `%25`.
    ///
    /// `/app` is prepended unless the path already begins with it.
    public var path: String
    /// The query, as plain text; sent sorted by name.
    public var query: [String: String]
    /// Headers of this call alone; `RonConfig.headerProvider` and the client's own take precedence.
    public var headers: [String: String]
    /// The body, sent as JSON; dropped on ``HTTPVerb/get``. Use ``RawJSON`` for encoded JSON.
    public var body: (any Encodable & Sendable)?
    /// The timeout of this call, in milliseconds, instead of the client's overall timeout.
    public var timeoutMs: Int?
    /// The key by which the server recognises a repeated write; sent as `Idempotency-Key` and as `X-Idempotency-Key`.
    ///
    /// At most 64 visible ASCII characters. Not sent on ``HTTPVerb/get``.
    public var idempotencyKey: String?

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below `/app`, as plain text.
    ///   - query: The query, as plain text.
    ///   - headers: Headers of this call alone.
    ///   - body: The body, sent as JSON; dropped on ``HTTPVerb/get``.
    ///   - timeoutMs: The timeout of this call, in milliseconds.
    ///   - idempotencyKey: The key by which the server recognises a repeated write.
    public init(
        _ method: HTTPVerb = .get, _ path: String, query: [String: String] = [:], headers: [String: String] = [:],
        body: (any Encodable & Sendable)? = nil, timeoutMs: Int? = nil, idempotencyKey: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.timeoutMs = timeoutMs
        self.idempotencyKey = idempotencyKey
    }
}
