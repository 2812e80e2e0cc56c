import Foundation
import Platform

extension TimeBucket {
    /// Its ISO 8601 name in its own zone: `2026-03-05T15`, `2026-03-05`, `2026-W10`, `2026-03`, `2026`.
    ///
    /// An hour that begins late includes its minute; one that the clock shows twice includes its offset:
    /// `2026-11-01T01-05:00`. ``TimeBucketingService/bucket(named:)`` parses it.
    public var name: String {
        let clock = wallClock
        let (civil, date) = (clock.civil, clock.civil.date)
        switch type {
        case .hour:
            let hour = "\(date)T\(civil.hour.padded(2))" + (civil.minute == 0 ? "" : ":\(civil.minute.padded(2))")
            guard isShownTwice else { return hour }
            let minutes = abs(clock.offset) / 60
            return hour + (clock.offset < 0 ? "-" : "+") + "\((minutes / 60).padded(2)):\((minutes % 60).padded(2))"
        case .day: return date.description
        case .week: return week.description
        case .month: return "\(date.year.padded(4))-\(date.month.padded(2))"
        case .year: return date.year.padded(4)
        }
    }
}

extension TimeBucketingService {
    /// The bucket with this ``TimeBucket/name`` or ``TimeBucket/id``; nil if there is none.
    ///
    /// For an hour that the clock shows twice, the first, unless the name has an offset.
    public func bucket(named name: String) -> TimeBucket? {
        if let match = name.wholeMatch(of: /([0-4])_(-?[0-9]{1,13})/) {
            guard let type = Int(match.1).flatMap(TimeBucketType.init(rawValue:)), let seconds = Double(match.2) else {
                return nil
            }
            return bucket(type, startingAt: Date(timeIntervalSince1970: seconds))
        }
        if let match = name.wholeMatch(of: /([0-9]{4})-W([0-9]{2})/) {
            // 4 January is always in the first week.
            guard let year = Int(match.1), let number = Int(match.2), number > 0,
                let first = CivilDate(year: year, month: 1, day: 4)
            else { return nil }
            let thursday = first.adding(days: 4 - first.weekday + (number - 1) * 7)
            return bucket(.week, on: thursday).flatMap { $0.week == ISOWeek(year: year, number: number) ? $0 : nil }
        }
        let form = /([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2})(?::([0-9]{2}))?([+-][0-9]{2}:[0-9]{2})?)?)?)?/
        guard let match = name.wholeMatch(of: form), let year = Int(match.1) else { return nil }
        let (month, day) = (match.2.flatMap { Int($0) }, match.3.flatMap { Int($0) })
        guard let date = CivilDate(year: year, month: month ?? 1, day: day ?? 1) else { return nil }
        guard let hour = match.4.flatMap({ Int($0) }) else {
            return bucket(month == nil ? .year : day == nil ? .month : .day, on: date)
        }
        guard let civil = CivilDateTime(date, hour: hour, minute: match.5.flatMap { Int($0) } ?? 0) else { return nil }
        let offset = match.6.map(Self.seconds)
        return zone.all(civil).first { offset == nil || $0.offset == offset }
            .flatMap { bucket(.hour, startingAt: Date(whole: $0.secondsSince1970)) }
    }

    /// The day, or the longer bucket, that contains the date; nil if the zone skipped the date.
    private func bucket(_ type: TimeBucketType, on day: CivilDate) -> TimeBucket? {
        // Every day that exists has a noon, which is in no other month or year.
        guard let noon = zone.all(CivilDateTime(day, secondOfDay: 43_200)).first else { return nil }
        return bucket(type, containing: Date(whole: noon.secondsSince1970))
    }

    private static func seconds(_ offset: Substring) -> Int {
        let parts = offset.dropFirst().split(separator: ":").compactMap { Int($0) }
        return (offset.hasPrefix("-") ? -60 : 60) * parts.reduce(0) { $0 * 60 + $1 }
    }
}
