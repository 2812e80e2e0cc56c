import Foundation
import HTTPKit

/// When a failed call is tried again: what the server asks for, else after 3, 9 and 15 s
/// (docs/design/advisors.md, "Providers").
public struct RetryPolicy: Sendable, Hashable {
    /// The pauses where the server names none; as many retries as there are pauses.
    public var delays: [Duration]
    /// A server that asks for more than this is not waited for.
    public var longestWait: Duration

    /// As many retries as there are pauses.
    public init(delays: [Duration] = [.seconds(3), .seconds(9), .seconds(15)], longestWait: Duration = .seconds(120)) {
        self.delays = delays
        self.longestWait = longestWait
    }

    /// One try.
    public static let never = RetryPolicy(delays: [])

    /// The pause before the next try; nil if there is none. `retries` counts those already made.
    public func delay(after error: LLMError, retries: Int) -> Duration? {
        guard retries < delays.count, error.isRetryable else { return nil }
        guard let asked = error.retryAfter else { return delays[retries] }
        return asked <= longestWait ? asked : nil
    }

    /// Reads `retry-after-ms`, then `retry-after` (seconds, also with a fraction, or an HTTP date, seen from `now`); nil for
    /// what is neither.
    package static func wait(milliseconds: String?, secondsOrDate: String?, now: Date) -> Duration? {
        if let milliseconds = milliseconds.flatMap(number) { return RetryAfter.wait(seconds: milliseconds / 1000) }
        if let seconds = secondsOrDate.flatMap(number) { return RetryAfter.wait(seconds: seconds) }
        return secondsOrDate.flatMap { RetryAfter.wait($0, now: now) }
    }

    private static func number(_ text: String) -> Double? {
        Double(text.trimmingCharacters(in: .whitespaces)).flatMap { $0.isFinite ? $0 : nil }
    }
}
