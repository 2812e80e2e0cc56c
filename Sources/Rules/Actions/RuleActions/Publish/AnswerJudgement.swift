import Foundation
import RonAppSdkSwift
import Rules

/// What an answer to an event says: whether it was taken, will never be, or may be another time.
enum AnswerJudgement {
    /// Answers below 500 after which the same event may be taken another time. A receiver that is still at work with an event
    /// of the same key says 409; 401 and 407 are about who asks, which a person mends, and not about the event.
    private static let passing: Set<Int> = [401, 407, 408, 409, 425, 429]

    /// - Parameters:
    ///   - status: of HTTP; anything but 0.
    ///   - problem: what the receiver says; nil where it says nothing.
    /// - Returns: what became of the event.
    static func outcome(status: Int, _ problem: RonProblem?) -> SendOutcome {
        if (200..<300).contains(status) { return .delivered(status: status) }
        let reason = reason(status, problem)
        if passing.contains(status) || status >= 500 {
            return .retry(
                after: problem?.retryAfterMs.map { Double($0) / 1000 }, status: status, reason: reason)
        }
        if (300..<400).contains(status) {
            return .refused(
                status: status, reason: "\(reason): it has moved, and nothing is sent on; mend the target's `url`")
        }
        return .refused(status: status, reason: reason)
    }

    /// - Parameter error: why no answer came.
    /// - Returns: what became of the event.
    static func outcome(_ error: TransportError) -> SendOutcome {
        switch error.kind {
        case .cancelled: .cancelled
        case .timeout: .retry(after: nil, status: nil, reason: "no answer came in time")
        case .unreachable: .retry(after: nil, status: nil, reason: "nothing answers there (\(line(error.text)))")
        case .reset: .retry(after: nil, status: nil, reason: "the connection ended before the answer")
        case .tls: .retry(after: nil, status: nil, reason: "no trusted connection came about (\(line(error.text)))")
        case .tooLong, .other: .retry(after: nil, status: nil, reason: line(error.text))
        }
    }

    /// Only what the receiver itself has said.
    private static func reason(_ status: Int, _ problem: RonProblem?) -> String {
        guard let problem, problem.kind != RonProblem.transportKind || problem.reason != nil else {
            return "HTTP \(status)"
        }
        var parts = [problem.hasCode("unknown_error") ? nil : problem.code, problem.reason].compactMap { $0 }
        if problem.message != "HTTP \(status)" { parts.append(problem.message) }
        return "HTTP \(status)" + (parts.isEmpty ? "" : ", \(line(parts.joined(separator: ": ")))")
    }

    /// Words from outside, as they may stand in the ledger and in a log.
    static func line(_ text: String) -> String { String(SafeText.withoutControls(text).prefix(200)) }
}
