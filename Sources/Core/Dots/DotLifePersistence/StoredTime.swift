import Foundation
import Platform

/// Times as stored: nanoseconds since 1970, UTC.
enum StoredTime {
    /// - Returns: nil before September 1677 and after April 2262, which do not fit in 64 bits.
    static func nanoseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        // Whole seconds and fraction separately: their product with 10⁹ would not fit a Double's 53 bits.
        let whole = seconds.rounded(.down)
        let (product, isTooLarge) = (Int64(whole) + 978_307_200).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = product.addingReportingOverflow(Int64(((seconds - whole) * 1e9).rounded()))
        return isTooLarge || isTooLate ? nil : sum
    }

    static func date(_ nanoseconds: Int64) -> Date {
        let time = Timestamp(nanoseconds: nanoseconds)
        return Date(
            timeIntervalSinceReferenceDate: Double(time.wholeSeconds - 978_307_200) + Double(time.fraction) / 1e9)
    }

    /// ISO 8601 in UTC with all nine digits: `2026-11-21T09:30:00.123456789Z`.
    static func text(_ nanoseconds: Int64) -> String { Timestamp(nanoseconds: nanoseconds).text(digits: 9) }

    /// Parses the output of ``text(_:)``; nil for anything else, including 30 February and the year 2262.
    static func nanoseconds(_ text: String) -> Int64? { Timestamp(text: text)?.nanoseconds }
}
