/// A method of HTTP that the app plane knows.
public enum HTTPVerb: String, Sendable, CaseIterable {
    /// Reads; its body is never sent.
    case get = "GET"
    /// Creates, or starts something.
    case post = "POST"
    /// Replaces.
    case put = "PUT"
    /// Changes in part.
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"

    /// Whether the server is asked to change something; such calls carry an idempotency key, where there is one.
    public var isWrite: Bool { self != .get }
}

/// One call to the app plane, before the client adds what belongs to it.
public struct AppRequest: Sendable {
    /// The method.
    public var method: HTTPVerb
    /// The path below `/app`, as plain text: it is percent-encoded when it is sent, so that `%` goes out as `%25`.
    ///
    /// `/app` is put before it once; a path that begins with it is left as it is.
    public var path: String
    /// The query, as plain text; sent in the order of its names.
    public var query: [String: String]
    /// Headers of this call alone; `RonConfig.headerProvider` and the client's own go before them.
    public var headers: [String: String]
    /// What is sent as JSON; dropped on ``HTTPVerb/get``. JSON that is written already is a ``RawJSON``.
    public var body: (any Encodable & Sendable)?
    /// The longest time for this call, in milliseconds, instead of the client's overall timeout.
    public var timeoutMs: Int?
    /// The key by which the server knows a write again; sent as `Idempotency-Key` and as `X-Idempotency-Key`.
    ///
    /// At most 64 visible ASCII characters. Not sent on ``HTTPVerb/get``.
    public var idempotencyKey: String?

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below `/app`, as plain text.
    ///   - query: The query, as plain text.
    ///   - headers: Headers of this call alone.
    ///   - body: What is sent as JSON; dropped on ``HTTPVerb/get``.
    ///   - timeoutMs: The longest time for this call, in milliseconds.
    ///   - idempotencyKey: The key by which the server knows a write again.
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
