/// What went wrong, in the server's words or the client's own (docs/design/ron.md, "Where they differ").
///
/// Names on the wire are `code`, `message`, `kind`, `status`, `correlation_id`, `retryable`, `retry_after_ms`, `reason`
/// and `details`; they are written so, and read in all shapes that servers send.
public struct RonProblem: Error, Sendable, Equatable {
    /// What a program goes by, as `upstream_unavailable`; compared without regard to case by ``hasCode(_:)``.
    public var code: String
    /// What a person reads.
    public var message: String
    /// Where the problem arose: `auth`, `policy`, `app`, `transport`, `local`; servers send others.
    public var kind: String
    /// The status of the answer; 0 where none came.
    public var status: Int
    /// The id by which the call is found in the servers' logs.
    public var correlationId: String?
    /// Whether the same call may succeed later; nil where that is not known.
    public var retryable: Bool?
    /// How long to wait before that, in milliseconds; of what a server asks for, ``longestWaitMs`` at most.
    public var retryAfterMs: Int?
    /// A more exact reason, as `overloaded`.
    public var reason: String?
    /// Whatever else the server says.
    public var details: [String: JSONValue]?

    /// The longest ``retryAfterMs`` that is read, 24 days in milliseconds: what 32 bits hold.
    public static let longestWaitMs = Int(Int32.max)

    /// The ``kind`` of what the client finds wrong itself: nothing was sent, or what came is not taken.
    public static let localKind = "local"
    /// The ``kind`` of what goes wrong between client and server.
    public static let transportKind = "transport"

    /// Makes a problem.
    ///
    /// - Parameters:
    ///   - code: What a program goes by.
    ///   - message: What a person reads.
    ///   - kind: Where the problem arose.
    ///   - status: The status of the answer; 0 where none came.
    ///   - correlationId: The id by which the call is found in logs.
    ///   - retryable: Whether the same call may succeed later.
    ///   - retryAfterMs: How long to wait before that, in milliseconds.
    ///   - reason: A more exact reason.
    ///   - details: Whatever else there is to say.
    public init(
        code: String, message: String, kind: String, status: Int, correlationId: String? = nil, retryable: Bool? = nil,
        retryAfterMs: Int? = nil, reason: String? = nil, details: [String: JSONValue]? = nil
    ) {
        self.code = code
        self.message = message
        self.kind = kind
        self.status = status
        self.correlationId = correlationId
        self.retryable = retryable
        self.retryAfterMs = retryAfterMs
        self.reason = reason
        self.details = details
    }

    /// Whether this is the code; servers write it in lower case and in capitals.
    ///
    /// - Parameter other: The code to compare with.
    /// - Returns: True where they differ in case at most.
    public func hasCode(_ other: String) -> Bool { code.lowercased() == other.lowercased() }

    /// The code for logs and metrics: `other`, where the server's is not 1 to 64 visible ASCII characters.
    ///
    /// What is longer would fill a backend's memory, and a line break would begin a line of the log that nobody wrote.
    package var countedCode: String { HeaderText.isVisible(code, limit: 64) ? code : "other" }
}
