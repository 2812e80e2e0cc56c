import Foundation
import HTTPDates

/// The header `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait, in milliseconds.
    ///
    /// - Parameters:
    ///   - value: Whole seconds, or a date of HTTP.
    ///   - now: When the answer came; a date before it stands for no wait.
    /// - Returns: Nil, where it is neither.
    static func milliseconds(_ value: String, now: Date = Date()) -> Int? {
        let value = value.trimmingCharacters(in: .whitespaces)
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            let (ms, overflow) = (Int(value) ?? .max).multipliedReportingOverflow(by: 1_000)
            return overflow ? .max : ms
        }
        guard let date = HTTPDate.date(value) else { return nil }
        return Int(exactly: (max(0, date.timeIntervalSince(now)) * 1_000).rounded(.up)) ?? .max
    }
}
