import Foundation
import HTTPKit
import Platform

/// The backoff of a failed call: 3, 9 and 15 s, or longer if the server asks for it (docs/design/advisors.md,
/// "Providers").
public struct RetryPolicy: Sendable, Hashable {
    /// The delays unless the server asks for a longer one; there are as many retries as delays.
    public var delays: [Duration]
    /// A longer wait requested by the server is not honoured; the call fails.
    public var longestWait: Duration

    /// There are as many retries as delays.
    public init(delays: [Duration] = [.seconds(3), .seconds(9), .seconds(15)], longestWait: Duration = .seconds(120)) {
        self.delays = delays
        self.longestWait = longestWait
    }

    /// No retries.
    public static let never = RetryPolicy(delays: [])

    /// The delay before the next attempt; nil if there is none. `retries` is the number so far.
    public func delay(after error: LLMError, retries: Int) -> Duration? {
        guard retries < delays.count, error.isRetryable else { return nil }
        guard let asked = error.retryAfter else { return delays[retries] }
        guard asked <= longestWait else { return nil }
        var generator = SystemRandomNumberGenerator()
        return Backoff.delay(delays[retries], asked: asked, jitter: 0.2, using: &generator)
    }

    /// Parses `retry-after-ms`, then `retry-after` (seconds, possibly fractional, or an HTTP date relative to `now`);
    /// nil if neither is valid.
    package static func wait(milliseconds: String?, secondsOrDate: String?, now: Date) -> Duration? {
        if let milliseconds = milliseconds.flatMap(number) { return RetryAfter.wait(seconds: milliseconds / 1000) }
        if let seconds = secondsOrDate.flatMap(number) { return RetryAfter.wait(seconds: seconds) }
        return secondsOrDate.flatMap { RetryAfter.wait($0, now: now) }
    }

    private static func number(_ text: String) -> Double? {
        Double(text.trimmingCharacters(in: .whitespaces)).flatMap { $0.isFinite ? $0 : nil }
    }
}
