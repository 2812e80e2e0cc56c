import Foundation
import Platform

/// Divides time into hours, days, weeks from Monday, months and years of one time zone
/// (docs/design/dots.md, "Buckets").
///
/// Neighbouring buckets of a type touch: every instant is in exactly one. A day has 23 hour buckets when clocks go
/// forward, 25 when they go back. A shift that is not a whole hour ends an hour bucket early. If the clock shows a
/// date, leaves it and returns to it, the date begins at the return.
public struct TimeBucketingService: Hashable, Codable, Sendable {
    /// The zone whose wall clock counts; a fixed offset if Foundation does not know its name.
    public let timeZone: TimeZone
    /// The zone from the system's data, which determines every bucket.
    let zone: Zone

    private enum CodingKeys: String, CodingKey {
        case timeZone
    }

    /// - Parameter timeZone: given by the caller, never the process's own.
    public init(timeZone: TimeZone) { (self.timeZone, zone) = (timeZone, Zone(timeZone)) }

    /// - Parameter zone: the zone from the system's data.
    package init(zone: Zone) {
        let offset = zone.offset(at: Date.now.wholeSeconds)
        timeZone = TimeZone(identifier: zone.identifier) ?? TimeZone(secondsFromGMT: offset) ?? .gmt
        self.zone = zone
    }

    /// Only the `TimeZone` is coded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(timeZone: try container.decode(TimeZone.self, forKey: .timeZone))
    }

    /// Coordinated Universal Time.
    public static let utc = TimeBucketingService(timeZone: .gmt)

    /// ISO 8601: weeks begin on Monday.
    public var calendar: Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        calendar.firstWeekday = 2
        return calendar
    }

    /// The bucket that contains `date`.
    public func bucket(_ type: TimeBucketType, containing date: Date) -> TimeBucket {
        TimeBucket(type: type, start: start(of: type, containing: date), service: self)
    }

    /// The bucket whose first instant is `start`; nil if none of the type begins there.
    public func bucket(_ type: TimeBucketType, startingAt start: Date) -> TimeBucket? {
        guard start.timeIntervalSince1970.isFinite, abs(start.timeIntervalSince1970) < Self.farthest else { return nil }
        let bucket = bucket(type, containing: start)
        return bucket.start == start ? bucket : nil
    }

    /// The limit for buckets, in seconds from 1970: some 300,000 years.
    private static let farthest = 1e13

    /// The hours of the day: 24, or 23 or 25 on a clock change.
    public func hourBuckets(ofDayContaining date: Date) -> [TimeBucket] {
        buckets(.hour, within: bucket(.day, containing: date))
    }

    /// Monday to Sunday.
    public func dayBuckets(ofWeekContaining date: Date) -> [TimeBucket] {
        buckets(.day, within: bucket(.week, containing: date))
    }

    /// All days of the month.
    public func dayBuckets(ofMonthContaining date: Date) -> [TimeBucket] {
        buckets(.day, within: bucket(.month, containing: date))
    }

    /// All days of the year, 365 or 366.
    public func dayBuckets(ofYearContaining date: Date) -> [TimeBucket] {
        buckets(.day, within: bucket(.year, containing: date))
    }

    /// The whole weeks that share a day with the month; the first may begin in the previous month.
    public func weekBuckets(ofMonthContaining date: Date) -> [TimeBucket] {
        buckets(.week, within: bucket(.month, containing: date))
    }

    /// The twelve months of the year.
    public func monthBuckets(ofYearContaining date: Date) -> [TimeBucket] {
        buckets(.month, within: bucket(.year, containing: date))
    }

    private func buckets(_ type: TimeBucketType, within whole: TimeBucket) -> [TimeBucket] {
        let end = whole.end
        var found: [TimeBucket] = []
        var next = start(of: type, containing: whole.start)
        while next < end {
            found.append(TimeBucket(type: type, start: next, service: self))
            next = self.end(of: type, startingAt: next)
        }
        return found
    }

    private func start(of type: TimeBucketType, containing date: Date) -> Date {
        let (zone, second) = (zone, date.wholeSeconds)
        guard type != .hour else {
            let start = Self.hour(of: second, in: zone)
            // If the clocks changed within this wall-clock hour, the change started a new bucket.
            if let shift = zone.nextChange(after: start), shift <= second { return Date(whole: shift) }
            return Date(whole: start)
        }
        var day = zone.local(at: second).civil.date
        // The clock shows the next day's first minute before it goes back into this one.
        if Self.start(of: day, in: zone) > second { day = day.adding(days: -1) }
        return Date(whole: Self.start(of: Self.first(of: type, with: day), in: zone))
    }

    /// The end of the bucket of `type` that begins at `start`.
    func end(of type: TimeBucketType, startingAt start: Date) -> Date {
        let (zone, second) = (zone, start.wholeSeconds)
        guard type != .hour else {
            let end = Self.hour(of: second, in: zone) + 3600
            return Date(whole: zone.nextChange(after: second).map { min($0, end) } ?? end)
        }
        let day = Self.first(of: type, with: zone.local(at: second).civil.date)
        let next =
            switch type {
            case .hour, .day: day.adding(days: 1)
            case .week: day.adding(days: 7)
            case .month: day.adding(months: 1)
            case .year: day.adding(months: 12)
            }
        return Date(whole: Self.start(of: next, in: zone))
    }

    /// The first day of the day, week, month or year of `day`.
    private static func first(of type: TimeBucketType, with day: CivilDate) -> CivilDate {
        switch type {
        case .hour, .day: day
        case .week: day.adding(days: 1 - day.weekday)
        case .month: day.first(ofMonth: day.month)
        case .year: day.first(ofMonth: 1)
        }
    }

    /// The last full hour on the wall clock, by the offset in effect at `second`.
    private static func hour(of second: Int, in zone: Zone) -> Int {
        second - zone.local(at: second).civil.secondOfDay % 3600
    }

    /// When the clock begins to show the date without returning to the day before; for a skipped day, when the next one
    /// begins.
    ///
    /// Newfoundland put its clocks back at a minute past midnight from 1987 to 2011: that minute belongs to the day
    /// that it interrupts. If midnight comes twice on the same date, the first counts.
    private static func start(of day: CivilDate, in zone: Zone) -> Int {
        let midnight = zone.start(of: day)
        guard let shift = zone.nextChange(after: midnight), shift - midnight < 3 * 3600 else { return midnight }
        let shifted = zone.local(at: shift)
        return shifted.civil.date < day ? CivilDateTime(day).secondsSince1970 - shifted.offset : midnight
    }
}
