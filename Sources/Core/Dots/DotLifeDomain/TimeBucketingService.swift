import Foundation

/// Cuts time into hours, days, weeks from Monday, months and years of one time zone
/// (docs/design/dots.md, "Buckets").
///
/// Neighbouring buckets of a type touch: every instant lies in exactly one. Where clocks are put forward a day has 23
/// hour buckets, where they are put back 25. A shift that is not a whole hour ends an hour bucket early. A date that the clock
/// shows, leaves again and comes back to begins when it has come back.
public struct TimeBucketingService: Hashable, Codable, Sendable {
    /// The zone whose wall clock counts.
    public let timeZone: TimeZone

    /// - Parameter timeZone: given by the caller, never the process's own.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// Coordinated Universal Time.
    public static let utc = TimeBucketingService(timeZone: .gmt)

    /// ISO 8601: weeks begin on Monday.
    public var calendar: Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        calendar.firstWeekday = 2
        return calendar
    }

    /// The bucket that `date` lies in.
    public func bucket(_ type: TimeBucketType, containing date: Date) -> TimeBucket {
        TimeBucket(type: type, start: start(of: type, containing: date), timeZone: timeZone)
    }

    /// The bucket whose first instant is `start`; nil where none of the type begins there.
    public func bucket(_ type: TimeBucketType, startingAt start: Date) -> TimeBucket? {
        guard start.timeIntervalSince1970.isFinite, abs(start.timeIntervalSince1970) < Self.farthest else { return nil }
        let bucket = bucket(type, containing: start)
        return bucket.start == start ? bucket : nil
    }

    /// Seconds from 1970 beyond which no bucket is looked for: some 300,000 years.
    private static let farthest = 1e13

    /// The hours of the day: 24, or 23 or 25 where clocks are shifted.
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

    /// The whole weeks that share a day with the month; the first may begin in the month before.
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
            found.append(TimeBucket(type: type, start: next, timeZone: timeZone))
            next = self.end(of: type, startingAt: next)
        }
        return found
    }

    private func start(of type: TimeBucketType, containing instant: Date) -> Date {
        let calendar = self.calendar
        var date = instant
        if type != .hour, dayStart(date, calendar) > date {
            // The clock shows the next day's first minute, before it is put back into this one.
            date = calendar.startOfDay(for: date).addingTimeInterval(-1)
        }
        switch type {
        case .hour:
            let start = wallClockHour(date)
            // Where the clocks were shifted within this hour of the wall clock, the shift began a bucket of its own.
            if let shift = timeZone.nextDaylightSavingTimeTransition(after: start), shift <= date { return shift }
            return start
        case .day:
            return dayStart(date, calendar)
        case .week:
            return day((calendar.component(.weekday, from: date) + 5) % 7, before: date, calendar)
        case .month:
            return day(calendar.component(.day, from: date) - 1, before: date, calendar)
        case .year:
            return first(ofMonth: 1, year: calendar.component(.year, from: date), calendar)
        }
    }

    /// The first instant after the bucket of `type` that begins at `start`.
    func end(of type: TimeBucketType, startingAt start: Date) -> Date {
        let calendar = self.calendar
        switch type {
        case .hour:
            let end = wallClockHour(start).addingTimeInterval(3600)
            if let shift = timeZone.nextDaylightSavingTimeTransition(after: start), shift < end { return shift }
            return end
        case .day:
            return day(-1, before: start, calendar)
        case .week:
            return day(-7, before: start, calendar)
        case .month:
            let (year, month) = (calendar.component(.year, from: start), calendar.component(.month, from: start))
            return month == 12
                ? first(ofMonth: 1, year: year + 1, calendar) : first(ofMonth: month + 1, year: year, calendar)
        case .year:
            return first(ofMonth: 1, year: calendar.component(.year, from: start) + 1, calendar)
        }
    }

    /// The last full hour that the wall clock showed, by the offset that holds at `date`.
    private func wallClockHour(_ date: Date) -> Date {
        let offset = Double(timeZone.secondsFromGMT(for: date))
        let local = date.timeIntervalSince1970 + offset
        return Date(timeIntervalSince1970: (local / 3600).rounded(.down) * 3600 - offset)
    }

    /// The first instant of the day so many calendar days before `date`'s.
    ///
    /// Counts days by their dates, since a zone may have left one out (Samoa, 30 December 2011), and goes by noon:
    /// midnight may be missing or come twice, noon does not.
    private func day(_ count: Int, before date: Date, _ calendar: Calendar) -> Date {
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        let plain = Self.utc.calendar
        let noon = DateComponents(year: parts.year, month: parts.month, day: parts.day, hour: 12)
        guard let counted = plain.date(from: noon)?.addingTimeInterval(Double(-count) * 86_400) else { return date }
        let moved = plain.dateComponents([.year, .month, .day, .hour], from: counted)
        return dayStart(calendar.date(from: moved) ?? counted, calendar)
    }

    private func first(ofMonth month: Int, year: Int, _ calendar: Calendar) -> Date {
        let noon = calendar.date(from: DateComponents(year: year, month: month, day: 1, hour: 12))
        return dayStart(noon ?? .distantFuture, calendar)
    }

    /// From when on the clock shows the date that it shows at `date` without going back to the day before.
    ///
    /// Newfoundland put its clocks back at a minute past midnight from 1987 to 2011: that minute belongs to the day that
    /// it interrupts. Where midnight comes twice on the same date, the first counts.
    private func dayStart(_ date: Date, _ calendar: Calendar) -> Date {
        let midnight = calendar.startOfDay(for: date)
        let offset = timeZone.secondsFromGMT(for: midnight)
        // Only then is it worth asking when the clocks are put back, which takes long.
        guard timeZone.secondsFromGMT(for: midnight.addingTimeInterval(3 * 3600)) < offset,
            let shift = timeZone.nextDaylightSavingTimeTransition(after: midnight)
        else { return midnight }
        let (day, shifted) = (WallClock(midnight, in: timeZone).day, WallClock(shift, in: timeZone))
        guard shifted.day.number < day.number else { return midnight }
        return Date(timeIntervalSince1970: Double(day.number * 86_400 - shifted.offset))
    }
}
