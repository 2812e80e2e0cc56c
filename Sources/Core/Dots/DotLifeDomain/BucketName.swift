import Foundation

extension TimeBucket {
    /// Its name by ISO 8601 in its own zone: `2026-03-05T15`, `2026-03-05`, `2026-W10`, `2026-03`, `2026`.
    ///
    /// An hour that begins late names its minute; one that the clock shows twice its offset:
    /// `2026-11-01T01-05:00`. ``TimeBucketingService/bucket(named:)`` reads it.
    public var name: String {
        let clock = wallClock
        let (year, month, day) = clock.day.parts
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        switch type {
        case .hour:
            let hour = "\(date)T\(padded(clock.hour, 2))" + (clock.minute == 0 ? "" : ":\(padded(clock.minute, 2))")
            guard isShownTwice else { return hour }
            let minutes = abs(clock.offset) / 60
            return hour + (clock.offset < 0 ? "-" : "+") + "\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
        case .day: return date
        case .week: return week.description
        case .month: return "\(padded(year, 4))-\(padded(month, 2))"
        case .year: return padded(year, 4)
        }
    }
}

extension TimeBucketingService {
    /// The bucket that a ``TimeBucket/name`` or a ``TimeBucket/id`` means; nil where it means none.
    ///
    /// Of an hour that the clock shows twice, the first, unless the name has an offset.
    public func bucket(named name: String) -> TimeBucket? {
        if let match = name.wholeMatch(of: /([0-4])_(-?[0-9]{1,13})/) {
            guard let type = Int(match.1).flatMap(TimeBucketType.init(rawValue:)), let seconds = Double(match.2) else {
                return nil
            }
            return bucket(type, startingAt: Date(timeIntervalSince1970: seconds))
        }
        if let match = name.wholeMatch(of: /([0-9]{4})-W([0-9]{2})/) {
            guard let year = Int(match.1), let number = Int(match.2), number > 0 else { return nil }
            // 4 January is always in the first week.
            let first = CivilDay(year: year, month: 1, day: 4)
            let thursday = CivilDay(number: first.number - first.weekday + 3 + (number - 1) * 7)
            return bucket(.week, on: thursday).flatMap { $0.week == ISOWeek(year: year, number: number) ? $0 : nil }
        }
        let form = /([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2})(?::([0-9]{2}))?([+-][0-9]{2}:[0-9]{2})?)?)?)?/
        guard let match = name.wholeMatch(of: form), let year = Int(match.1) else { return nil }
        let (month, day) = (match.2.flatMap { Int($0) }, match.3.flatMap { Int($0) })
        let date = CivilDay(year: year, month: month ?? 1, day: day ?? 1)
        // 31 February would be a day in March.
        guard (1...12).contains(month ?? 1), date.parts == (year, month ?? 1, day ?? 1) else { return nil }
        guard let hour = match.4.flatMap({ Int($0) }) else {
            return bucket(month == nil ? .year : day == nil ? .month : .day, on: date)
        }
        let minute = match.5.flatMap { Int($0) } ?? 0
        guard hour < 24, minute < 60 else { return nil }
        let starts = instants(date.number * 86_400 + hour * 3600 + minute * 60)
        let offset = match.6.map(Self.seconds)
        return starts.first { offset == nil || timeZone.secondsFromGMT(for: $0) == offset }
            .flatMap { bucket(.hour, startingAt: $0) }
    }

    /// The day, or the longer bucket, that has the date; nil where the zone has left it out.
    private func bucket(_ type: TimeBucketType, on day: CivilDay) -> TimeBucket? {
        // Noon is there on every day that there is, and in no month or year but its own.
        guard let noon = instants(day.number * 86_400 + 43_200).first else { return nil }
        return bucket(type, containing: noon)
    }

    /// When the clock shows so many seconds since the beginning of 1970: once, twice or never.
    private func instants(_ local: Int) -> [Date] {
        let offsets = Set([-86_400, 86_400].map { timeZone.secondsFromGMT(for: date(local + $0)) })
        return offsets.map { (offset: $0, date: date(local - $0)) }
            .filter { timeZone.secondsFromGMT(for: $0.date) == $0.offset }.map(\.date).sorted()
    }

    private func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    private static func seconds(_ offset: Substring) -> Int {
        let parts = offset.dropFirst().split(separator: ":").compactMap { Int($0) }
        return (offset.hasPrefix("-") ? -60 : 60) * parts.reduce(0) { $0 * 60 + $1 }
    }
}
