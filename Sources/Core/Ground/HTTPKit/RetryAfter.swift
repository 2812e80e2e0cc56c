import Foundation

/// The header `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The longest delay distinguished from longer ones: a billion seconds.
    package static let longest = Duration.seconds(1_000_000_000)

    /// The delay to wait; at most ``longest``.
    ///
    /// - Parameters:
    ///   - value: Whole seconds, or an HTTP date.
    ///   - now: When the response arrived. A date before it means no delay.
    /// - Returns: nil if the value is neither.
    package static func wait(_ value: String, now: Date = Date()) -> Duration? {
        let value = value.trimmingCharacters(in: .whitespaces)
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int32(value).map { min(.seconds($0), longest) } ?? longest
        }
        return HTTPDate.date(value).map { wait(seconds: $0.timeIntervalSince(now)) }
    }

    /// A delay in whole milliseconds, from zero to ``longest``.
    package static func wait(seconds: Double) -> Duration {
        min(.milliseconds(Int64((min(max(seconds, 0), 1e10) * 1_000).rounded(.up))), longest)
    }
}

/// The status of an answer.
package enum HTTPStatus {
    /// Whether the status alone means that the same request may succeed later (RFC 9110, 6585 and 8470).
    package static func isRetryable(_ status: Int) -> Bool { status >= 500 || [408, 425, 429].contains(status) }
}
