import Foundation
import Hummingbird
import NIOCore
import RonAppSdkSwift

/// A problem in the form shown to this server's callers.
struct ShownProblem {
    let status: Int
    private(set) var problem: RonProblem

    /// The problem shown for errors other than the SDK's.
    static var ofOthers: ShownProblem { ShownProblem(told: .internalError) }

    /// The client's codes for rejected answers of the app plane.
    private static let ofAnswers = [
        "local_event_too_long", "local_not_a_stream", "local_page_missing", "local_page_token_repeated",
        "local_page_token_too_long", "local_response_too_large", "local_too_many_items", "local_too_many_pages",
    ]

    /// - Parameter error: A handler's error.
    /// - Returns: nil if it is not one of the SDK's errors.
    init?(_ error: any Error) {
        switch error {
        case let problem as RonProblem: self.init(of: problem)
        case let error as RonSdkError:
            switch error {
            case .problem(let problem): self.init(of: problem)
            case .config: self.init(told: .misconfigured)
            case .decoding, .unknown: self.init(told: .unreadable)
            }
        case is SdkConfigError, is LocalNetworkError: self.init(told: .misconfigured)
        default: return nil
        }
    }

    /// The client's own problems reveal how this server is configured, so their text is not shown.
    private init(of problem: RonProblem) {
        guard problem.kind == RonProblem.localKind else {
            self.init(told: problem)
            return
        }
        self.init(told: Self.ofAnswers.contains { problem.hasCode($0) } ? .unreadable : .misconfigured)
        self.problem.correlationId = problem.correlationId
    }

    private init(told problem: RonProblem) {
        status =
            switch problem.status {
            case 400...599: problem.status
            case _ where problem.kind != RonProblem.transportKind: 500
            case _ where problem.hasCode("local_timeout"): 504
            default: 502
            }
        self.problem = problem
        self.problem.status = status
    }

    /// - Parameter ids: Used if the problem has no id of its own.
    func response(_ ids: RonCorrelation) throws -> Response {
        var problem = problem
        problem.correlationId = problem.correlationId ?? ids.correlationId
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var response = Response(
            status: HTTPResponse.Status(code: status), headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(problem))))
        if let wait = problem.retryAfterMs {
            // Whole seconds, rounded up.
            response.headers[.retryAfter] = String(max(0, wait / 1_000 + (wait % 1_000 > 0 ? 1 : 0)))
        }
        return response
    }
}

extension RonProblem {
    /// An internal error of this server, without details.
    fileprivate static let internalError = RonProblem(
        code: "internal", message: "Internal server error", kind: "internal", status: 500, retryable: false)

    /// This server's calls to the app plane are invalid.
    fileprivate static let misconfigured = RonProblem(
        code: "internal", message: "this server cannot call the app plane", kind: "internal", status: 500,
        retryable: false)

    fileprivate static let unreadable = RonProblem(
        code: "transport_error", message: "the app plane's answer could not be read", kind: transportKind, status: 502,
        retryable: false)
}
