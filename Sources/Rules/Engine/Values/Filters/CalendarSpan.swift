import Platform

/// A span of time in human units: `30d`, `-1 month`, `2 years 3 months`. Days and longer units are calendar units: a
/// month later is the same day of the next month, or its last day.
struct CalendarSpan: Sendable, Equatable {
    private(set) var months = 0
    private(set) var days = 0
    private(set) var seconds = 0

    /// Maximum number of one unit.
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

    /// nil if this is not a span; a number needs a unit.
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

    /// Adds months and days in local time, and seconds in elapsed time.
    ///
    /// - Parameter shown: local time at `time`.
    /// - Returns: nil if the result is outside the nanosecond range.
    func added(to time: Timestamp, shown: LocalTime, _ timeZone: Zone, times sign: Int) -> Timestamp? {
        var second = shown.secondsSince1970
        if months != 0 || days != 0 {
            let date = shown.civil.date.adding(months: sign * months).adding(days: sign * days)
            second = timeZone.resolve(CivilDateTime(date, secondOfDay: shown.civil.secondOfDay)).secondsSince1970
        }
        let end = Timestamp(whole: second + sign * seconds)
        guard end.wholeSeconds == second + sign * seconds else { return nil }
        return end.adding(nanoseconds: time.fraction)
    }
}

/// Calendar dates in a time zone; weeks begin on Monday.
enum CalendarTime {
    /// The units that a date can be rounded to.
    static let units = ["hour", "day", "week", "month", "quarter", "year"]
    /// For people.
    static let unitNames = units.map { "`\($0)`" }.joined(separator: ", ")

    /// The first and the last second of the `unit` that contains a time.
    static func bounds(_ unit: String, of local: LocalTime, _ timeZone: Zone) -> (Timestamp, Timestamp)? {
        let date = local.civil.date
        let (first, next): (CivilDate, CivilDate)
        switch unit {
        case "hour":
            let start = local.secondsSince1970 - local.civil.secondOfDay % 3_600
            return (Timestamp(whole: start), Timestamp(whole: start + 3_599))
        case "day": (first, next) = (date, date.adding(days: 1))
        case "week":
            first = date.adding(days: 1 - date.weekday)
            next = first.adding(days: 7)
        case "month", "quarter", "year":
            let length = unit == "month" ? 1 : unit == "quarter" ? 3 : 12
            first = date.first(ofMonth: (date.month - 1) / length * length + 1)
            next = first.adding(months: length)
        default: return nil
        }
        return (Timestamp(whole: timeZone.start(of: first)), Timestamp(whole: timeZone.start(of: next) - 1))
    }
}
