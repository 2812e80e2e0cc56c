import Foundation
import Platform

/// A span of time as people say it: `30d`, `-1 month`, `2 years 3 months`. Days and longer are the calendar's: a month
/// later is the same day of the next month, or its last one.
struct CalendarSpan: Sendable, Equatable {
    private(set) var months = 0
    private(set) var days = 0
    private(set) var seconds = 0

    /// The most of one unit.
    private static let most = 1_000_000

    private enum Part {
        case months, days, seconds
    }

    private static let units: [String: (Part, Int)] = [
        "s": (.seconds, 1), "min": (.seconds, 60), "m": (.seconds, 60), "h": (.seconds, 3_600),
        "second": (.seconds, 1), "minute": (.seconds, 60), "hour": (.seconds, 3_600),
        "d": (.days, 1), "day": (.days, 1), "w": (.days, 7), "week": (.days, 7),
        "month": (.months, 1), "quarter": (.months, 3), "y": (.months, 12), "year": (.months, 12),
    ]

    /// Nil for what is no span; a number needs a unit.
    init?(_ text: String) {
        var rest = text.trimmedSpaces[...]
        var sign = 1
        if let first = rest.first, first == "-" || first == "+" {
            sign = first == "-" ? -1 : 1
            rest = rest.dropFirst()
        }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            rest = rest.drop { $0 == " " }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let word = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(word.count).drop { $0 == " " }
            let unit = Self.units[String(word)] ?? (word.hasSuffix("s") ? Self.units[String(word.dropLast())] : nil)
            guard let number = Int(digits), number <= Self.most, let (part, factor) = unit else { return nil }
            switch part {
            case .months: months += sign * number * factor
            case .days: days += sign * number * factor
            case .seconds: seconds += sign * number * factor
            }
        }
    }

    /// - Returns: nil where it would lead out of the years that the agent knows.
    func added(to time: Timestamp, _ timeZone: TimeZone, times sign: Int) -> Timestamp? {
        let parts = DateComponents(month: sign * months, day: sign * days, second: sign * seconds)
        let date = Date(timeIntervalSince1970: time.seconds)
        return CalendarTime.calendar(timeZone).date(byAdding: parts, to: date).flatMap(CalendarTime.timestamp)
    }
}

/// Dates by the calendar of a time zone: weeks begin on Mondays.
enum CalendarTime {
    /// The units of which a date has a beginning and an end.
    static let units = ["hour", "day", "week", "month", "quarter", "year"]
    /// For people.
    static let unitNames = units.map { "`\($0)`" }.joined(separator: ", ")

    static func calendar(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        return calendar
    }

    /// Nil for a date outside of the years that nanoseconds in 64 bits can tell, 1678 to 2261.
    static func timestamp(_ date: Date) -> Timestamp? {
        let seconds = date.timeIntervalSince1970
        return abs(seconds) < 9.22e9 ? Timestamp(seconds: seconds) : nil
    }

    /// The first second of the `unit` that `time` is in, and the last one.
    static func bounds(_ unit: String, of time: Timestamp, _ timeZone: TimeZone) -> (Timestamp, Timestamp)? {
        let calendar = Self.calendar(timeZone)
        let date = Date(timeIntervalSince1970: time.seconds)
        guard let (start, length) = Self.start(unit, date, calendar),
            let next = calendar.date(byAdding: length, to: start),
            let first = timestamp(start), let last = timestamp(next.addingTimeInterval(-1))
        else { return nil }
        return (first, last)
    }

    private static func start(_ unit: String, _ date: Date, _ calendar: Calendar) -> (Date, DateComponents)? {
        let parts = calendar.dateComponents([.year, .month], from: date)
        func first(ofMonth month: Int) -> Date? {
            calendar.date(from: DateComponents(year: parts.year, month: month, day: 1))
        }
        switch unit {
        case "hour": return calendar.dateInterval(of: .hour, for: date).map { ($0.start, DateComponents(hour: 1)) }
        case "day": return (calendar.startOfDay(for: date), DateComponents(day: 1))
        case "week":
            return calendar.dateInterval(of: .weekOfYear, for: date).map { ($0.start, DateComponents(day: 7)) }
        case "month": return first(ofMonth: parts.month ?? 1).map { ($0, DateComponents(month: 1)) }
        case "quarter":
            return first(ofMonth: ((parts.month ?? 1) - 1) / 3 * 3 + 1).map { ($0, DateComponents(month: 3)) }
        case "year": return first(ofMonth: 1).map { ($0, DateComponents(year: 1)) }
        default: return nil
        }
    }

    /// How many days of the calendar lie between two times, whatever their hours.
    static func days(from start: Timestamp, to end: Timestamp, _ timeZone: TimeZone) -> Int? {
        let own = calendar(timeZone)
        let universal = calendar(.gmt)
        // Without changes of the clock, a day has as many seconds as any other.
        func day(_ time: Timestamp) -> Double? {
            let parts = own.dateComponents([.year, .month, .day], from: Date(timeIntervalSince1970: time.seconds))
            return universal.date(from: parts).map { $0.timeIntervalSince1970 / 86_400 }
        }
        guard let start = day(start), let end = day(end) else { return nil }
        return Int((end - start).rounded())
    }
}
