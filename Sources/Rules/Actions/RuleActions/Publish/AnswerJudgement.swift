import Foundation
import RonAppSdkSwift
import Rules

/// Classifies a receiver's response: delivered, refused for good, or worth a retry.
enum AnswerJudgement {
    /// Further statuses that are worth a retry. 409 means that the receiver is still processing an event with this key.
    /// 401 and 407 concern the credentials, which a person can fix, rather than the event.
    private static let passing: Set<Int> = [401, 407, 409]

    /// - Parameters:
    ///   - status: HTTP status, never 0.
    ///   - problem: the receiver's explanation, if any.
    /// - Returns: the outcome of the attempt.
    static func outcome(status: Int, _ problem: RonProblem?) -> SendOutcome {
        if (200..<300).contains(status) { return .delivered(status: status) }
        let reason = reason(status, problem)
        if passing.contains(status) || RonProblem.isRetryable(status) {
            return .retry(
                after: problem?.retryAfterMs.map { Double($0) / 1000 }, status: status, reason: reason)
        }
        if (300..<400).contains(status) {
            return .refused(
                status: status, reason: "\(reason): redirects are not followed; update the target's `url`")
        }
        return .refused(status: status, reason: reason)
    }

    /// - Parameter error: why there was no response.
    /// - Returns: the outcome of the attempt.
    static func outcome(_ error: TransportError) -> SendOutcome {
        switch error.kind {
        case .cancelled: .cancelled
        case .timeout: .retry(after: nil, status: nil, reason: "there was no response in time")
        case .unreachable: .retry(after: nil, status: nil, reason: "there is no response (\(line(error.text)))")
        case .reset: .retry(after: nil, status: nil, reason: "the connection ended before the answer")
        case .tls: .retry(after: nil, status: nil, reason: "no trusted connection could be made (\(line(error.text)))")
        case .tooLong, .other: .retry(after: nil, status: nil, reason: line(error.text))
        }
    }

    /// Uses only what the receiver itself said.
    private static func reason(_ status: Int, _ problem: RonProblem?) -> String {
        guard let problem, problem.kind != RonProblem.transportKind || problem.reason != nil else {
            return "HTTP \(status)"
        }
        var parts = [problem.hasCode("unknown_error") ? nil : problem.code, problem.reason].compactMap { $0 }
        if problem.message != "HTTP \(status)" { parts.append(problem.message) }
        return "HTTP \(status)" + (parts.isEmpty ? "" : ", \(line(parts.joined(separator: ": ")))")
    }

    /// External text, made safe for the ledger and logs.
    static func line(_ text: String) -> String { String(SafeText.withoutControls(text).prefix(200)) }
}
