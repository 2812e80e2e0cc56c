import Foundation

/// What carries a request to the server, in place of a `URLSession` (docs/design/ron.md, "Decisions").
public protocol RonTransport: Sendable {
    /// Sends a request, and returns when the head of the answer is there; the body is read afterwards.
    ///
    /// Redirects are not followed, nothing is sent a second time, and a cancelled task ends the request.
    ///
    /// - Parameter request: What is sent.
    /// - Returns: The answer.
    /// - Throws: Whatever kept an answer from coming.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse

    /// Closes connections; calls that are running fail.
    ///
    /// - Throws: What kept them from being closed.
    func close() async throws
}

/// A request, as it goes out.
public struct TransportRequest: Sendable {
    /// The method, in capitals.
    public var method: String
    /// Where it goes; percent-encoded already.
    public var url: URL
    /// Its headers, in the order in which they are sent.
    public var headers: [(String, String)]
    /// Its body; nil for none.
    public var body: Data?
    /// How long what may take.
    public var timeouts: Timeouts

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method, in capitals.
    ///   - url: Where it goes.
    ///   - headers: Its headers.
    ///   - body: Its body.
    ///   - timeouts: How long what may take.
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

/// How long the stages of a call may take, in milliseconds; 0 stands for no limit.
public struct Timeouts: Sendable, Equatable, Hashable {
    /// From the start of the call to the last byte of its answer.
    ///
    /// A transport holds to it until the head is there; ``RonClient`` and
    /// ``RonTransport/exchange(_:bodyLimit:)`` hold the body to it as well.
    public var overallMs: Int
    /// Until the connection is there, TLS included.
    public var connectMs: Int
    /// The longest silence while the answer is waited for.
    public var readMs: Int
    /// The longest standstill while the request is sent.
    public var writeMs: Int

    /// Makes timeouts; without values they are the defaults of the other SDKs.
    ///
    /// - Parameters:
    ///   - overallMs: From the start of the call to the last byte of its answer.
    ///   - connectMs: Until the connection is there.
    ///   - readMs: The longest silence while the answer is waited for.
    ///   - writeMs: The longest standstill while the request is sent.
    public init(overallMs: Int = 10_000, connectMs: Int = 3_000, readMs: Int = 7_000, writeMs: Int = 5_000) {
        self.overallMs = overallMs
        self.connectMs = connectMs
        self.readMs = readMs
        self.writeMs = writeMs
    }
}

/// An answer whose head is there.
public struct TransportResponse: Sendable {
    /// The status.
    public var status: Int
    /// Its headers, as they came.
    public var headers: [(String, String)]
    /// Its body; dropping it unread closes the connection.
    public var body: TransportBody

    /// Makes an answer.
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

    /// The headers with names in lower case; values of one name are joined by a comma and a space.
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

/// Why no answer came, or not the whole of it.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// What a caller can go by.
    public enum Kind: String, Sendable, CaseIterable {
        /// A timeout of ``Timeouts`` has passed.
        case timeout
        /// No connection came about: the name is unknown, or nothing answers there.
        case unreachable
        /// The connection ended early, or what came is no HTTP.
        case reset
        /// No trusted connection came about.
        case tls
        /// The task was cancelled.
        case cancelled
        /// The body is longer than what the caller takes.
        case tooLong
        /// Anything else.
        case other
    }

    /// What a caller can go by.
    public let kind: Kind
    /// What the library below says; for logs of people who look for an error, and never in a ``RonProblem``.
    public let text: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - kind: What a caller can go by.
    ///   - text: What the library below says.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// Kind and text.
    public var description: String { "\(kind.rawValue): \(text)" }
}
