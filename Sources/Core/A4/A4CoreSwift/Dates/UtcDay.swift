import Foundation
import Platform

/// A day of the proleptic Gregorian calendar in UTC, which names a daily note (docs/design/a4.md).
public struct UtcDay: Hashable, Sendable {
    /// In ISO 8601 numbering: 0 is the year before 1.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int

    /// Creates a day, unchecked; use ``Dates/utcDay(from:)`` for one that is sure to exist.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

/// The dates and times in A4's names and anchors: days in UTC, times of day local (docs/design/a4.md).
public enum Dates {
    /// The day of `date` in UTC.
    public static func utcDay(from date: Date) -> UtcDay {
        let day = CivilDateTime(secondsSince1970: wholeSeconds(date)).date
        return UtcDay(year: day.year, month: day.month, day: day.day)
    }

    /// The parts of a daily note's path: (`YYYY`, `YYYY-MM`, `YYYY-MM-DD.md`).
    public static func dailyPathComponents(for day: UtcDay) -> (String, String, String) {
        let month = "\(day.year.padded(4))-\(day.month.padded(2))"
        return (day.year.padded(4), month, "\(month)-\(day.day.padded(2)).md")
    }

    /// The time of day in an anchor, four digits: local to `timeZone`, by default the process's own.
    public static func localHHMM(from date: Date, timeZone: TimeZone = .current) -> String {
        localHHMM(
            from: date,
            zone: Zone(identifier: timeZone.identifier) ?? Zone(secondsFromGMT: timeZone.secondsFromGMT(for: date)))
    }

    /// The same, with the system's time zones.
    package static func localHHMM(from date: Date, zone: Zone) -> String {
        let civil = zone.local(at: wholeSeconds(date)).civil
        return civil.hour.padded(2) + civil.minute.padded(2)
    }

    /// `2025-09-14T07:58:12Z`.
    static func iso8601(_ date: Date) -> String { "\(CivilDateTime(secondsSince1970: wholeSeconds(date)))Z" }

    /// Seconds since 1970, rounded down; a date that is not finite, or absurdly far, counts as 1970.
    private static func wholeSeconds(_ date: Date) -> Int {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return abs(seconds) < 1e15 ? Int(seconds) : 0
    }
}
