import Foundation
import Logging
import Synchronization

/// Reports the start of a call to metrics, and its outcome to metrics and the log: one line, when it is over.
final class CallRecord: Sendable {
    /// The call's id, unless another source provides one.
    let requestId: String
    private let sent = Mutex<SentCall?>(nil)
    private let client: RonClient
    private let method: String
    private let url: URL?
    /// nil if there are no metrics.
    private let call: RonCall?
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - request: The request.
    ///   - url: Its URL; nil if it is invalid.
    ///   - client: The client that makes the call.
    init(_ request: AppRequest, url: URL?, client: RonClient) {
        self.client = client
        self.url = url
        method = request.method.rawValue
        requestId = client.config.requestIdFactory?() ?? RequestId.random()
        guard let metrics = client.config.metrics else {
            call = nil
            return
        }
        let started = RonCall(
            method: method, pathTemplate: url.map { PathTemplate.of($0.path(percentEncoded: true)) } ?? "none")
        call = started
        metrics.callStarted(started)
    }

    /// Stores the sent request, so that it is known even if the call ends without an answer.
    func sends(_ call: SentCall) { sent.withLock { $0 = call } }

    /// The id under which servers have seen the call so far; nil if it is not valid in a header.
    var id: String? {
        let id = sent.withLock { $0?.requestId } ?? requestId
        return HeaderText.isVisible(id, limit: RequestHeaders.longestId) ? id : nil
    }

    /// Ends a call without an answer.
    ///
    /// - Parameter failure: The reason.
    /// - Returns: Its problem, with the id under which servers may have seen it.
    func finish(_ failure: CallFailure) -> RonProblem {
        var problem: RonProblem
        let text: String
        switch failure {
        case .local(let error, let detail):
            problem = error.problem
            text = detail
        case .transport(let error):
            problem = .noAnswer(error.kind)
            text = error.description
        case .tooLong(let status, _, let limit):
            problem = .tooLong(status: status, limit: limit)
            text = problem.message
        }
        problem.correlationId = id
        finish(status: problem.status, problem: problem, text: text)
        return problem
    }

    /// Ends a call that has an answer.
    ///
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - problem: The problem in the answer.
    ///   - bytesReceived: The length of the answer's body.
    ///   - text: Additional information for debugging.
    func finish(status: Int, problem: RonProblem? = nil, bytesReceived: Int = 0, text: String? = nil) {
        let logger = client.logger.flatMap { $0.logLevel <= .debug ? $0 : nil }
        // Usually there is neither, and the call costs nothing here.
        if call == nil, logger == nil { return }
        let sent = sent.withLock { $0 }
        let outcome = RonCallOutcome(
            status: status, problemCode: problem?.countedCode, duration: ContinuousClock.now - start,
            bytesSent: sent?.bodyLength ?? 0, bytesReceived: bytesReceived)
        if let call { client.config.metrics?.callFinished(call, outcome) }
        guard let logger else { return }
        var metadata: Logger.Metadata = [
            "request_id": "\(id ?? "none")", "method": "\(method)",
            "path": "\(url.map(Redaction.target) ?? "none")",
            "status": "\(outcome.status)", "duration_ms": "\((outcome.duration / .milliseconds(1)).rounded())",
        ]
        if let code = outcome.problemCode { metadata["code"] = "\(code)" }
        if client.config.debug {
            if let sent {
                let headers = Redaction.redact(Dictionary(sent.headers) { $1 })
                metadata["headers"] = .dictionary(headers.mapValues { "\($0)" })
            }
            if let text { metadata["detail"] = "\(text)" }
        }
        logger.debug("call to the app plane", metadata: metadata)
    }
}
