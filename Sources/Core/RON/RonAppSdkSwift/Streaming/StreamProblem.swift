/// Problems of streams that the server does not report itself.
enum StreamProblem {
    /// The connection broke.
    static let broken = RonProblem(
        code: "local_network_failure", message: "The connection of the stream broke", kind: RonProblem.transportKind,
        status: 0, retryable: true, reason: "stream_broken")

    /// The server ended its answer.
    static let ended = RonProblem(
        code: "local_network_failure", message: "The server ended the stream", kind: RonProblem.transportKind,
        status: 0,
        retryable: true, reason: "stream_ended")

    /// The idle timeout expired.
    static let silent = RonProblem(
        code: "local_timeout", message: "The stream was silent for too long", kind: RonProblem.transportKind, status: 0,
        retryable: true, reason: "stream_silent")

    /// An event exceeds the limit.
    static func tooLong(_ limit: Int) -> RonProblem {
        RonProblem(
            code: "local_event_too_long",
            message: "An event of the stream is longer than the \(limit) bytes that eventLimit of its settings allows",
            kind: RonProblem.localKind, status: 200, retryable: false)
    }

    /// A successful answer that is not a stream.
    static func noStream(_ status: Int, type: String) -> RonProblem {
        RonProblem(
            code: "local_not_a_stream",
            message: type.isEmpty
                ? "The server answered \(status) without a content type, where text/event-stream was expected"
                : "The server answered \(status) with \(quoted(type)), where 200 with text/event-stream was expected",
            kind: RonProblem.localKind, status: status, retryable: false)
    }
}
