import Foundation
import Platform

/// Times as the store keeps them: nanoseconds since 1970, UTC.
enum StoredTime {
    /// - Returns: nil before September 1677 and after April 2262, which 64 bits do not hold.
    static func nanoseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        // Whole seconds and fraction apart: their product with 10⁹ would not fit a Double's 53 bits.
        let whole = seconds.rounded(.down)
        let (product, isTooLarge) = (Int64(whole) + 978_307_200).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = product.addingReportingOverflow(Int64(((seconds - whole) * 1e9).rounded()))
        return isTooLarge || isTooLate ? nil : sum
    }

    static func date(_ nanoseconds: Int64) -> Date {
        let fraction = ((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000
        // Rounded down; the first time there is has nothing below it that could be subtracted.
        let whole = nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0) - 978_307_200
        return Date(timeIntervalSinceReferenceDate: Double(whole) + Double(fraction) / 1e9)
    }

    /// ISO 8601 in UTC with all nine digits: `2026-11-21T09:30:00.123456789Z`.
    static func text(_ nanoseconds: Int64) -> String {
        let fraction = ((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000
        // Multiplied out, the first time there is would not fit.
        let seconds = nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let (year, month, day) = civil((seconds - second) / 86_400)
        return "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))T\((second / 3600).padded(2)):"
            + "\((second / 60 % 60).padded(2)):\((second % 60).padded(2)).\(fraction.padded(9))Z"
    }

    /// Reads what ``text(_:)`` writes; nil for all else, 30 February and the year 2262 too.
    static func nanoseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 30 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            let part = bytes[range]
            guard part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return part.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let fraction = number(20..<29), (1...12).contains(month)
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        // Before 1970 the seconds alone may not fit, with their fraction added they do.
        let (whole, rest) = seconds < 0 ? (seconds + 1, fraction - 1_000_000_000) : (seconds, fraction)
        let product = whole.multipliedReportingOverflow(by: 1_000_000_000)
        let sum = product.partialValue.addingReportingOverflow(rest)
        // Whatever means another time than it says, the 30th of February, reads back as something else.
        guard !product.overflow, !sum.overflow, Self.text(sum.partialValue) == text else { return nil }
        return sum.partialValue
    }

    /// Days from 1970-01-01 to a day of the Gregorian calendar; years begin in March, so that the leap day is the last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let (day, number) = (ofYear - (153 * month + 2) / 5 + 1, month < 10 ? month + 3 : month - 9)
        return (year + era * 400 + (number <= 2 ? 1 : 0), number, day)
    }
}
