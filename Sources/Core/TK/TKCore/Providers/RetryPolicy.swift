import Foundation
import HTTPDates

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

    /// Reads `retry-after-ms`, then `retry-after` (seconds or an HTTP date, seen from `now`); nil for what is neither.
    package static func wait(milliseconds: String?, secondsOrDate: String?, now: Date) -> Duration? {
        if let milliseconds, let value = number(milliseconds) { return duration(value / 1000) }
        guard let text = secondsOrDate?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if let value = number(text) { return duration(value) }
        guard let date = HTTPDate.date(text) else { return nil }
        return duration(date.timeIntervalSince(now))
    }

    private static func number(_ text: String) -> Double? {
        let value = Double(text.trimmingCharacters(in: .whitespaces))
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func duration(_ seconds: Double) -> Duration {
        .milliseconds(Int64((min(max(seconds, 0), 1e9) * 1000).rounded(.up)))
    }
}
