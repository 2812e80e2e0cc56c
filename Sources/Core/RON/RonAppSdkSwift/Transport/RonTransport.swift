import Foundation

/// Sends requests to the server, in place of a `URLSession` (docs/design/ron.md, "Decisions").
public protocol RonTransport: Sendable {
    /// Sends a request, and returns when the answer's head has arrived; the body is read afterwards.
    ///
    /// Must not follow redirects or send anything twice; cancelling the task ends the request.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer.
    /// - Throws: The reason why there is no answer.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse

    /// Closes connections; calls in flight fail.
    ///
    /// - Throws: An error that prevented them from being closed.
    func close() async throws
}

/// A request in its final form.
public struct TransportRequest: Sendable {
    /// The method, in upper case.
    public var method: String
    /// The URL, percent-encoded.
    public var url: URL
    /// Its headers, in the order in which they are sent.
    public var headers: [(String, String)]
    /// Its body; nil for none.
    public var body: Data?
    /// The timeouts.
    public var timeouts: Timeouts

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method, in upper case.
    ///   - url: The URL.
    ///   - headers: Its headers.
    ///   - body: Its body.
    ///   - timeouts: The timeouts.
    public init(
        method: String, url: URL, headers: [(String, String)] = [], body: Data? = nil, timeouts: Timeouts = Timeouts()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
    }
}

/// The timeouts of a call's stages, in milliseconds; 0 means no limit.
public struct Timeouts: Sendable, Equatable, Hashable {
    /// From the start of the call to the last byte of its answer.
    ///
    /// A transport enforces it until the head arrives; ``RonClient`` and ``RonTransport/exchange(_:bodyLimit:)``
    /// enforce it for the body as well.
    public var overallMs: Int
    /// To establish the connection, including TLS.
    public var connectMs: Int
    /// The idle timeout while waiting for the answer.
    public var readMs: Int
    /// The idle timeout while sending the request.
    public var writeMs: Int

    /// Creates timeouts; the defaults are those of the other SDKs.
    ///
    /// - Parameters:
    ///   - overallMs: From the start of the call to the last byte of its answer.
    ///   - connectMs: To establish the connection.
    ///   - readMs: The idle timeout while waiting for the answer.
    ///   - writeMs: The idle timeout while sending the request.
    public init(overallMs: Int = 10_000, connectMs: Int = 3_000, readMs: Int = 7_000, writeMs: Int = 5_000) {
        self.overallMs = overallMs
        self.connectMs = connectMs
        self.readMs = readMs
        self.writeMs = writeMs
    }
}

/// An answer whose head has arrived.
public struct TransportResponse: Sendable {
    /// The status.
    public var status: Int
    /// Its raw headers.
    public var headers: [(String, String)]
    /// Its body; dropping it unread closes the connection.
    public var body: TransportBody

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: Its headers.
    ///   - body: Its body.
    public init(status: Int, headers: [(String, String)] = [], body: TransportBody = TransportBody()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The headers with lower-case names; multiple values of one name are joined by a comma and a space.
    public var headerFields: [String: String] { Self.fields(headers) }

    static func fields(_ headers: some Collection<(String, String)>) -> [String: String] {
        var fields: [String: String] = [:]
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            let name = name.lowercased()
            fields[name] = if let before = fields[name] { "\(before), \(value)" } else { value }
        }
        return fields
    }
}

/// Why there is no answer, or only a part of it.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, for callers.
    public enum Kind: String, Sendable, CaseIterable {
        /// One of the ``Timeouts`` expired.
        case timeout
        /// No connection: the name is unknown, or nothing answers there.
        case unreachable
        /// The connection ended early, or the answer is not HTTP.
        case reset
        /// No trusted connection.
        case tls
        /// The task was cancelled.
        case cancelled
        /// The body exceeds the caller's limit.
        case tooLong
        /// Anything else.
        case other
    }

    /// The kind of error, for callers.
    public let kind: Kind
    /// The underlying library's message; for debug logs, never in a ``RonProblem``.
    public let text: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of error.
    ///   - text: The underlying library's message.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// Kind and text.
    public var description: String { "\(kind.rawValue): \(text)" }
}
