/// Is told of each call of a client.
///
/// Both functions are called on the task of the call and should return at once: what they do adds to each call's time.
public protocol RonMetrics: Sendable {
    /// A call begins; ``callFinished(_:_:)`` follows exactly once.
    ///
    /// - Parameter call: Which.
    func callStarted(_ call: RonCall)

    /// A call has ended: with an answer, with a problem, or cancelled.
    ///
    /// - Parameters:
    ///   - call: Which.
    ///   - outcome: How it ended.
    func callFinished(_ call: RonCall, _ outcome: RonCallOutcome)
}

/// What a call asks for, in words that are few enough to count by.
public struct RonCall: Sendable, Hashable {
    /// In upper case: `GET`.
    public var method: String
    /// The path without what tells one thing from another of its kind: `/app/users/{id}` (``PathTemplate``).
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

/// How a call ended.
public struct RonCallOutcome: Sendable, Hashable {
    /// The HTTP status; 0 where no answer came.
    public var status: Int
    /// The problem's code; nil where all went well.
    public var problemCode: String?
    /// From the start of the call to its end, the response's body included; of a stream, to its head.
    public var duration: Duration
    /// Bytes of the request's body.
    public var bytesSent: Int
    /// Bytes of the response's body.
    public var bytesReceived: Int

    /// An outcome.
    ///
    /// - Parameters:
    ///   - status: The HTTP status; 0 where no answer came.
    ///   - problemCode: The problem's code; nil where all went well.
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
