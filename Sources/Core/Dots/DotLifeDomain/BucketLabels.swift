import Foundation
import Platform

/// An ISO 8601 week. It belongs to the year of its Thursday.
public struct ISOWeek: Hashable, Codable, Comparable, Sendable, CustomStringConvertible {
    /// The year it belongs to; not always that of its Monday.
    public let year: Int
    /// 1 to 53.
    public let number: Int

    init(year: Int, number: Int) {
        self.year = year
        self.number = number
    }

    /// In ISO 8601 notation: `2026-W03`.
    public var description: String { "\(year.padded(4))-W\(number.padded(2))" }

    /// Earlier weeks are smaller.
    public static func < (left: ISOWeek, right: ISOWeek) -> Bool {
        (left.year, left.number) < (right.year, right.number)
    }
}

/// Labels of a bucket. They are English and do not depend on the process's language or zone.
extension TimeBucket {
    /// The week in which it begins.
    public var week: ISOWeek {
        let week = day.week
        return ISOWeek(year: week.year, number: week.number)
    }

    /// In a grid: `3pm`, `Mon`, `Week 03`, `Jan`, `2024`. An hour that begins late because of a clock change shows its
    /// minute: `2:30am`.
    public var label: String {
        switch type {
        case .hour: Self.hour(wallClock.civil)
        case .day: Self.weekdays[day.weekday - 1]
        case .week: "Week \(week.number.padded(2))"
        case .month: String(Self.months[day.month - 1].prefix(3))
        case .year: String(day.year)
        }
    }

    /// Outside a grid: `Tue 3pm`, `Mon, Jan 15`, `Week 03: Jan 15 - Jan 21`, `January 2024`, `2024`.
    ///
    /// An hour that the clock shows twice is distinguished by its offset: `Sun 1am (UTC-4)`.
    public var extendedLabel: String {
        let (clock, day) = (wallClock, day)
        switch type {
        case .hour:
            let hour = "\(Self.weekdays[day.weekday - 1]) \(Self.hour(clock.civil))"
            return isShownTwice ? "\(hour) (\(Self.offset(clock.offset)))" : hour
        case .day: return "\(Self.weekdays[day.weekday - 1]), \(Self.monthAndDay(day))"
        case .week: return "\(label): \(weekSpan)"
        case .month: return "\(Self.months[day.month - 1]) \(day.year)"
        case .year: return label
        }
    }

    /// Above the grid of its dots: `Monday, January 5`, `Jan 5 - Jan 11`, `January 2026`, `2026`.
    public var title: String {
        switch type {
        case .hour: extendedLabel
        case .day: "\(Self.longWeekdays[day.weekday - 1]), \(longMonthAndDay)"
        case .week: weekSpan
        case .month, .year: extendedLabel
        }
    }

    /// The title of a day or week with its year, or both years of a week that spans two: `Dec 30, 2024 - Jan 5, 2025`.
    var titleWithYear: String {
        guard type == .week else { return "\(title), \(day.year)" }
        let monday = day.adding(days: 1 - day.weekday)
        let sunday = monday.adding(days: 6)
        guard monday.year != sunday.year else { return "\(title), \(monday.year)" }
        return "\(Self.monthAndDay(monday)), \(monday.year) - \(Self.monthAndDay(sunday)), \(sunday.year)"
    }

    /// The day on which it begins: `January 5`.
    var longMonthAndDay: String { "\(Self.months[day.month - 1]) \(day.day)" }

    /// The wall-clock time at which it begins.
    var wallClock: LocalTime { service.zone.local(at: start) }

    /// The day on which it begins.
    var day: CivilDate { wallClock.civil.date }

    /// Monday to Sunday by the calendar, even if the zone skipped one of them.
    private var weekSpan: String {
        let monday = day.adding(days: 1 - day.weekday)
        return "\(Self.monthAndDay(monday)) - \(Self.monthAndDay(monday.adding(days: 6)))"
    }

    /// Whether the clock shows the bucket's first minute twice because of a clock change.
    var isShownTwice: Bool { service.zone.all(wallClock.civil).count > 1 }

    private static func hour(_ clock: CivilDateTime) -> String {
        let hour = (clock.hour + 11) % 12 + 1
        let half = clock.hour < 12 ? "am" : "pm"
        return clock.minute == 0 ? "\(hour)\(half)" : "\(hour):\(clock.minute.padded(2))\(half)"
    }

    private static func offset(_ seconds: Int) -> String {
        let (hours, minutes) = (abs(seconds) / 3600, abs(seconds) % 3600 / 60)
        return "UTC\(seconds < 0 ? "-" : "+")\(hours)" + (minutes == 0 ? "" : ":\(minutes.padded(2))")
    }

    private static func monthAndDay(_ day: CivilDate) -> String { "\(months[day.month - 1].prefix(3)) \(day.day)" }

    static let weekdays = longWeekdays.map { String($0.prefix(3)) }

    private static let longWeekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
