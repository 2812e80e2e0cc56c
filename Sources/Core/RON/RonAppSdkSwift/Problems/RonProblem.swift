/// A problem reported by the server or by the client (docs/design/ron.md, "Where they differ").
///
/// Names on the wire are `code`, `message`, `kind`, `status`, `correlation_id`, `retryable`, `retry_after_ms`, `reason`
/// and `details`; these are used for encoding, and all shapes that servers send are decoded.
public struct RonProblem: Error, Sendable, Equatable {
    /// For programs, such as `upstream_unavailable`; compare case-insensitively with ``hasCode(_:)``.
    public var code: String
    /// For people.
    public var message: String
    /// The origin of the problem: `auth`, `policy`, `app`, `transport`, `local`; servers send others.
    public var kind: String
    /// The status of the answer; 0 if there was none.
    public var status: Int
    /// The id of the call in the servers' logs.
    public var correlationId: String?
    /// Whether the same call may succeed later; nil if unknown.
    public var retryable: Bool?
    /// The wait before a retry, in milliseconds, capped at ``longestWaitMs``.
    public var retryAfterMs: Int?
    /// A more specific reason, such as `overloaded`.
    public var reason: String?
    /// Any other fields from the server.
    public var details: [String: JSONValue]?

    /// The maximum ``retryAfterMs``, 24 days in milliseconds: the 32-bit limit.
    public static let longestWaitMs = Int(Int32.max)

    /// The ``kind`` of problems found by the client itself: nothing was sent, or an answer was rejected.
    public static let localKind = "local"
    /// The ``kind`` of problems between client and server.
    public static let transportKind = "transport"

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - code: For programs.
    ///   - message: For people.
    ///   - kind: The origin of the problem.
    ///   - status: The status of the answer; 0 if there was none.
    ///   - correlationId: The id of the call in logs.
    ///   - retryable: Whether the same call may succeed later.
    ///   - retryAfterMs: The wait before a retry, in milliseconds.
    ///   - reason: A more specific reason.
    ///   - details: Any other fields.
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

    /// Whether this is the code; servers use lower case and upper case.
    ///
    /// - Parameter other: The code to compare with.
    /// - Returns: True if they are equal, ignoring case.
    public func hasCode(_ other: String) -> Bool { code.lowercased() == other.lowercased() }

    /// The code for logs and metrics: `other` if the server's is not 1 to 64 visible ASCII characters.
    ///
    /// A longer one would fill a backend's memory, and a line break would forge a line of the log.
    package var countedCode: String { HeaderText.isVisible(code, limit: 64) ? code : "other" }
}
