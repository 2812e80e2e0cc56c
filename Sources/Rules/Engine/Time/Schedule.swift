import Platform

/// When a rule runs over all files of its places: `every day 03:00`, or at an interval in seconds.
package struct Schedule: Sendable, Equatable {
    private enum Days: Sendable, Equatable {
        case every
        /// 1 is Monday.
        case weekday(Int)
        /// Day of the month; in shorter months, the last day.
        case dayOfMonth(Int)

        func includes(_ date: CivilDate) -> Bool {
            switch self {
            case .every: true
            case .weekday(let day): date.weekday == day
            case .dayOfMonth(let day): date.day == day || date.isLastOfMonth && date.day < day
            }
        }
    }

    private enum Kind: Sendable, Equatable {
        case calendar(Days, second: Int)
        /// Nanoseconds.
        case interval(Int64)
    }

    private let kind: Kind
    private let timeZone: Zone
    /// The text in the rule: `every day 03:00`.
    package let text: String

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Shortest interval in seconds; anything shorter would be polling.
    static let shortest = 60.0

    /// Parses `every day 03:00`, `every monday 03:00`, `every month 1 03:00`; nil for anything else.
    package init?(at text: String, timeZone: Zone) {
        var words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        if words.first == "every" { words.removeFirst() }
        guard let clock = words.popLast(), let second = Self.second(clock), let first = words.first else { return nil }
        let days: Days
        switch (first, words.count) {
        case ("day", 1): days = .every
        case ("month", 2):
            guard let day = Int(words[1]), (1...31).contains(day) else { return nil }
            days = .dayOfMonth(day)
        case (_, 1):
            let found = Self.weekdays.firstIndex { $0 == first || first.count == 3 && $0.hasPrefix(first) }
            guard let found else { return nil }
            days = .weekday(found + 1)
        default: return nil
        }
        kind = .calendar(days, second: second)
        self.timeZone = timeZone
        self.text = text
    }

    /// - Parameter seconds: at least ``shortest``.
    package init(every seconds: Double, text: String) {
        kind = .interval(Int64(seconds * 1e9))
        timeZone = .gmt
        self.text = "every \(text)"
    }

    /// Seconds since midnight for `03:00` or `3:00`.
    private static func second(_ clock: String) -> Int? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 2, (1...2).contains(parts[0].count),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isWholeNumber } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 3_600 + minute * 60
    }

    /// Days searched on either side of a time: more than a month.
    private static let reach = 40

    /// The first scheduled time after `time`.
    ///
    /// - Parameter anchor: the origin of intervals.
    package func next(after time: Timestamp, anchor: Timestamp) -> Timestamp {
        switch kind {
        case .interval(let length):
            let count = Self.count(time, anchor, length) + 1
            let (passed, isFar) = length.multipliedReportingOverflow(by: count)
            return isFar ? Timestamp(nanoseconds: .max) : anchor.adding(nanoseconds: passed)
        case .calendar(let days, let second):
            let today = timeZone.local(at: time).civil.date.daysSince1970
            return times(of: days, second, in: (today - 1)...(today + Self.reach)).first { $0 > time }
                ?? Timestamp(nanoseconds: .max)
        }
    }

    /// The last scheduled time up to `time`. An interval also has times before its anchor. Returns nil from the
    /// anchor until the first time after it.
    package func latest(upTo time: Timestamp, anchor: Timestamp) -> Timestamp? {
        switch kind {
        case .interval(let length):
            let count = Self.count(time, anchor, length)
            return count == 0 ? nil : anchor.adding(nanoseconds: length * count)
        case .calendar(let days, let second):
            let today = timeZone.local(at: time).civil.date.daysSince1970
            return times(of: days, second, in: (today - Self.reach)...(today + 1)).last { $0 <= time }
        }
    }

    /// The number of intervals between the two. If the clock was set back to before the anchor, the times remain
    /// multiples of the interval; with another anchor they would all be new.
    private static func count(_ time: Timestamp, _ anchor: Timestamp, _ length: Int64) -> Int64 {
        let passed = time.nanoseconds - anchor.nanoseconds
        return passed / length - (passed % length < 0 ? 1 : 0)
    }

    private func times(of days: Days, _ second: Int, in range: ClosedRange<Int>) -> [Timestamp] {
        range.map(CivilDate.init(daysSince1970:)).filter(days.includes).map {
            Timestamp(whole: timeZone.first(notBefore: CivilDateTime($0, secondOfDay: second)))
        }
    }
}

extension [Schedule] {
    /// Stored in the ledger to detect a changed schedule.
    package var spec: String { map(\.text).joined(separator: "; ") }

    /// The earliest of their next times.
    package func next(after time: Timestamp, anchor: Timestamp) -> Timestamp? {
        map { $0.next(after: time, anchor: anchor) }.min()
    }

    package func latest(upTo time: Timestamp, anchor: Timestamp) -> Timestamp? {
        compactMap { $0.latest(upTo: time, anchor: anchor) }.max()
    }
}
