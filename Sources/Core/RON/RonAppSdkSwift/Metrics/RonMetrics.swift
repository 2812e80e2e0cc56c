/// Receives metrics of each call of a client.
///
/// Both functions are called on the task of the call and should return immediately: they add to each call's latency.
public protocol RonMetrics: Sendable {
    /// A call begins; ``callFinished(_:_:)`` follows exactly once.
    ///
    /// - Parameter call: The call.
    func callStarted(_ call: RonCall)

    /// A call has ended: with an answer, with a problem, or cancelled.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - outcome: Its outcome.
    func callFinished(_ call: RonCall, _ outcome: RonCallOutcome)
}

/// The method and path of a call, with low cardinality for counting.
public struct RonCall: Sendable, Hashable {
    /// In upper case: `GET`.
    public var method: String
    /// The path with ids replaced: `/app/users/{id}` (``PathTemplate``).
    public var pathTemplate: String

    /// A call.
    ///
    /// - Parameters:
    ///   - method: In upper case.
    ///   - pathTemplate: The path with `{id}` for ids, without a query.
    public init(method: String, pathTemplate: String) {
        self.method = method
        self.pathTemplate = pathTemplate
    }
}

/// The outcome of a call.
public struct RonCallOutcome: Sendable, Hashable {
    /// The HTTP status; 0 if there was no answer.
    public var status: Int
    /// The problem's code; nil on success.
    public var problemCode: String?
    /// From the start of the call to its end, including the response's body; for a stream, to its head.
    public var duration: Duration
    /// Bytes of the request's body.
    public var bytesSent: Int
    /// Bytes of the response's body.
    public var bytesReceived: Int

    /// An outcome.
    ///
    /// - Parameters:
    ///   - status: The HTTP status; 0 if there was no answer.
    ///   - problemCode: The problem's code; nil on success.
    ///   - duration: From the start of the call to its end.
    ///   - bytesSent: Bytes of the request's body.
    ///   - bytesReceived: Bytes of the response's body.
    public init(
        status: Int, problemCode: String? = nil, duration: Duration, bytesSent: Int = 0, bytesReceived: Int = 0
    ) {
        self.status = status
        self.problemCode = problemCode
        self.duration = duration
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }
}
