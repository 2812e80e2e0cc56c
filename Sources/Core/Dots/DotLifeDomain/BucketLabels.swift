import Foundation

/// A week of ISO 8601, which belongs to the year that its Thursday lies in.
public struct ISOWeek: Hashable, Codable, Comparable, Sendable, CustomStringConvertible {
    /// The year it belongs to; not always that of its Monday.
    public let year: Int
    /// 1 to 53.
    public let number: Int

    init(year: Int, number: Int) {
        self.year = year
        self.number = number
    }

    /// As ISO 8601 writes it: `2026-W03`.
    public var description: String { "\(padded(year, 4))-W\(padded(number, 2))" }

    /// Earlier weeks are smaller.
    public static func < (left: ISOWeek, right: ISOWeek) -> Bool {
        (left.year, left.number) < (right.year, right.number)
    }
}

/// What people read of a bucket. The words are English and do not depend on the process's language or zone.
extension TimeBucket {
    /// The week that it begins in.
    public var week: ISOWeek { wallClock.day.week }

    /// In a grid: `3pm`, `Mon`, `Week 03`, `Jan`, `2024`. An hour that a shift of the clocks began late says so: `2:30am`.
    public var label: String {
        let clock = wallClock
        return switch type {
        case .hour: Self.hour(clock)
        case .day: Self.weekdays[clock.day.weekday]
        case .week: "Week \(padded(week.number, 2))"
        case .month: Self.month(clock)
        case .year: String(clock.day.parts.year)
        }
    }

    /// By itself: `Tue 3pm`, `Mon, Jan 15`, `Week 03: Jan 15 - Jan 21`, `January 2024`, `2024`.
    ///
    /// An hour that the clock shows twice is told apart by its offset: `Sun 1am (UTC-4)`.
    public var extendedLabel: String {
        let clock = wallClock
        let day = clock.day
        switch type {
        case .hour:
            let hour = "\(Self.weekdays[day.weekday]) \(Self.hour(clock))"
            return isShownTwice ? "\(hour) (\(Self.offset(clock.offset)))" : hour
        case .day: return "\(Self.weekdays[day.weekday]), \(Self.monthAndDay(day))"
        case .week: return "\(label): \(weekSpan)"
        case .month: return "\(Self.months[day.parts.month - 1]) \(day.parts.year)"
        case .year: return label
        }
    }

    /// Above the grid of what it holds: `Monday, January 5`, `Jan 5 - Jan 11`, `January 2026`, `2026`.
    public var title: String {
        let day = wallClock.day
        return switch type {
        case .hour: extendedLabel
        case .day: "\(Self.longWeekdays[day.weekday]), \(longMonthAndDay)"
        case .week: weekSpan
        case .month, .year: extendedLabel
        }
    }

    /// The title of a day or week with its year, of a week in two years with both: `Dec 30, 2024 - Jan 5, 2025`.
    var titleWithYear: String {
        let day = wallClock.day
        guard type == .week else { return "\(title), \(day.parts.year)" }
        let monday = CivilDay(number: day.number - day.weekday)
        let sunday = CivilDay(number: monday.number + 6)
        guard monday.parts.year != sunday.parts.year else { return "\(title), \(monday.parts.year)" }
        return "\(Self.monthAndDay(monday)), \(monday.parts.year) - \(Self.monthAndDay(sunday)), \(sunday.parts.year)"
    }

    /// The day that it begins on: `January 5`.
    var longMonthAndDay: String {
        let parts = wallClock.day.parts
        return "\(Self.months[parts.month - 1]) \(parts.day)"
    }

    var wallClock: WallClock { WallClock(start, in: timeZone) }

    /// Monday to Sunday by the calendar, also where the zone has left one of them out.
    private var weekSpan: String {
        let day = wallClock.day
        let monday = CivilDay(number: day.number - day.weekday)
        return "\(Self.monthAndDay(monday)) - \(Self.monthAndDay(CivilDay(number: monday.number + 6)))"
    }

    /// Whether the clock shows the bucket's first minute once more, before or after a shift.
    var isShownTwice: Bool {
        let clock = wallClock
        return [-43_200.0, 43_200].contains { distance in
            let other = timeZone.secondsFromGMT(for: start.addingTimeInterval(distance))
            guard other != clock.offset else { return false }
            let twin = start.addingTimeInterval(Double(clock.offset - other))
            return timeZone.secondsFromGMT(for: twin) == other
        }
    }

    private static func hour(_ clock: WallClock) -> String {
        let hour = (clock.hour + 11) % 12 + 1
        let half = clock.hour < 12 ? "am" : "pm"
        return clock.minute == 0 ? "\(hour)\(half)" : "\(hour):\(padded(clock.minute, 2))\(half)"
    }

    private static func offset(_ seconds: Int) -> String {
        let (hours, minutes) = (abs(seconds) / 3600, abs(seconds) % 3600 / 60)
        return "UTC\(seconds < 0 ? "-" : "+")\(hours)" + (minutes == 0 ? "" : ":\(padded(minutes, 2))")
    }

    private static func month(_ clock: WallClock) -> String { String(months[clock.day.parts.month - 1].prefix(3)) }

    private static func monthAndDay(_ day: CivilDay) -> String {
        "\(months[day.parts.month - 1].prefix(3)) \(day.parts.day)"
    }

    static let weekdays = longWeekdays.map { String($0.prefix(3)) }

    private static let longWeekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

/// A number with zeros before it.
func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, digits - text.count)) + text
}
