import Foundation

/// A day of the proleptic Gregorian calendar in UTC, which names a daily note (docs/design/a4.md).
public struct UtcDay: Hashable, Sendable {
    /// As ISO 8601 counts: 0 is the year before 1.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int

    /// Takes the numbers as they are; ``Dates/utcDay(from:)`` makes a day that exists.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

/// The dates and times that A4 writes into names and anchors: days in UTC, times of day local (docs/design/a4.md).
public enum Dates {
    /// The day that `date` falls on in UTC.
    public static func utcDay(from date: Date) -> UtcDay {
        civil(day: wholeSeconds(date).flooredQuotient(86_400))
    }

    /// The parts of a daily note's path: (`YYYY`, `YYYY-MM`, `YYYY-MM-DD.md`).
    public static func dailyPathComponents(for day: UtcDay) -> (String, String, String) {
        let month = "\(padded(day.year, 4))-\(padded(day.month, 2))"
        return (padded(day.year, 4), month, "\(month)-\(padded(day.day, 2)).md")
    }

    /// The time of day as an anchor has it, four digits: local to `timeZone`, the process's own unless given.
    public static func localHHMM(from date: Date, timeZone: TimeZone = .current) -> String {
        let minutes = (wholeSeconds(date) + timeZone.secondsFromGMT(for: date)).flooredRemainder(86_400) / 60
        return padded(minutes / 60, 2) + padded(minutes % 60, 2)
    }

    /// `2025-09-14T07:58:12Z`.
    static func iso8601(_ date: Date) -> String {
        let seconds = wholeSeconds(date).flooredRemainder(86_400)
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(isoDay(utcDay(from: date)))T\(time)Z"
    }

    /// `2025-09-14`.
    static func isoDay(_ day: UtcDay) -> String {
        "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))"
    }

    /// Seconds since 1970, rounded down; a date that is not a finite number of them, or absurdly far, counts as 1970.
    private static func wholeSeconds(_ date: Date) -> Int {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return abs(seconds) < 1e15 ? Int(seconds) : 0
    }

    /// The Gregorian date `day` days after 1970-01-01, by counting in years that begin in March, so that a leap day
    /// comes last.
    private static func civil(day: Int) -> UtcDay {
        let shifted = day + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return UtcDay(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month, day: dayOfYear - (153 * march + 2) / 5 + 1
        )
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    fileprivate func flooredQuotient(_ divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }

    fileprivate func flooredRemainder(_ divisor: Int) -> Int {
        self - flooredQuotient(divisor) * divisor
    }
}
