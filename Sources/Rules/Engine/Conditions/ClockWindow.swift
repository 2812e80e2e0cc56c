import Platform

/// A recurring part of the week in local time: certain weekdays, or certain hours of each day. Pure: the result
/// depends only on the moment and the time zone.
package struct ClockWindow: Sendable, Equatable {
    /// Seconds in a day of local time.
    private static let day = 86_400

    private let weekdays: Set<Int>?
    private let hours: [Span]
    private let timeZone: Zone

    /// From `start` up to but excluding `end`, in seconds of the day; spans midnight unless `end` is later.
    package struct Span: Sendable, Equatable {
        let start: Int
        let end: Int

        /// - Parameters:
        ///   - start: seconds since midnight, less than a day.
        ///   - end: seconds since midnight, less than a day.
        package init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

        func holds(_ second: Int) -> Bool {
            start < end ? second >= start && second < end : second >= start || second < end
        }
    }

    /// Weekdays from 0 (Sunday) to 6.
    package init(weekdays: Set<Int>, in timeZone: Zone) {
        (self.weekdays, hours, self.timeZone) = (weekdays, [], timeZone)
    }

    /// Certain hours of every day.
    package init(hours: [Span], in timeZone: Zone) {
        (weekdays, self.hours, self.timeZone) = (nil, hours, timeZone)
    }

    /// Whether it contains the moment.
    package func holds(_ moment: Timestamp) -> Bool {
        let civil = timeZone.local(at: moment).civil
        if let weekdays { return weekdays.contains(civil.date.weekday % 7) }
        return hours.contains { $0.holds(civil.secondOfDay) }
    }

    /// The first moment after `moment` at which ``holds(_:)`` changes, allowing for clock changes in between; nil if
    /// it never does. A waiting rule need not check earlier.
    package func nextChange(after moment: Timestamp) -> Timestamp? {
        let now = holds(moment)
        var second = moment.wholeSeconds
        // A week has no more borders than that, including midnights and clock changes.
        for _ in 0..<(8 * (2 * hours.count + 2)) {
            second = nextBorder(after: second)
            let candidate = Timestamp(whole: second)
            if holds(candidate) != now { return candidate }
        }
        return nil
    }

    /// For people: `Saturday 22:14`.
    func shown(_ moment: Timestamp) -> String {
        let civil = timeZone.local(at: moment).civil
        let name = ClockWords.weekdays[civil.date.weekday % 7]
        return "\(name.prefix(1).uppercased())\(name.dropFirst()) \(civil.time.prefix(5))"
    }

    /// The next second at which local time reaches a border, or the clock changes.
    private func nextBorder(after second: Int) -> Int {
        let time = timeZone.local(at: second).civil.secondOfDay
        let borders = hours.flatMap { [$0.start, $0.end] } + [0]
        let next = second + (borders.map { ($0 - time - 1 + Self.day) % Self.day + 1 }.min() ?? Self.day)
        return timeZone.nextChange(after: second).map { min($0, next) } ?? next
    }
}

/// Syntax of days and times in rules.
enum ClockWords {
    /// Starting with Sunday.
    static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// The number of a weekday, from its full name or first three letters.
    static func weekday(_ text: String) -> Int? {
        let word = text.trimmedSpaces.lowercased()
        return weekdays.firstIndex { $0 == word || $0.prefix(3) == word }
    }

    /// Seconds since midnight for `22:00` or `22:00:30`; `24:00` is the end of the day.
    static func second(_ text: String) -> Int? {
        let parts = text.trimmedSpaces.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            parts.allSatisfy({ (1...2).contains($0.count) && $0.allSatisfy(\.isASCII) })
        else { return nil }
        let numbers = parts.compactMap { $0.allSatisfy(\.isNumber) ? Int($0) : nil }
        guard numbers.count == parts.count, numbers[1] < 60, numbers.count < 3 || numbers[2] < 60 else { return nil }
        let second = numbers[0] * 3_600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
        return second <= 86_400 ? second : nil
    }

    /// `22:00-06:00`.
    static func span(_ text: String) -> ClockWindow.Span? {
        let ends = text.split(whereSeparator: { "-–".contains($0) }).map { second(String($0)) }
        guard ends.count == 2, let start = ends[0], let end = ends[1], start < 86_400, start != end else { return nil }
        return ClockWindow.Span(start: start, end: end == 86_400 ? 0 : end)
    }
}
