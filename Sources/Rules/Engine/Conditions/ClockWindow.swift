import Foundation
import Platform

/// A part of the week by the clock on the wall: some days of the week, or some hours of each day. Pure: what it says of a
/// moment follows from the moment and the zone alone.
package struct ClockWindow: Sendable, Equatable {
    /// Seconds since midnight, by the clock.
    private static let day = 86_400

    private let weekdays: Set<Int>?
    private let hours: [Span]
    private let timeZone: TimeZone

    /// From a second of the day until before another; over midnight where that is not later.
    package struct Span: Sendable, Equatable {
        let start: Int
        let end: Int

        /// - Parameters: seconds since midnight, less than a day.
        package init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

        func holds(_ second: Int) -> Bool {
            start < end ? second >= start && second < end : second >= start || second < end
        }
    }

    /// Some days of the week, from 0, which is Sunday, to 6.
    package init(weekdays: Set<Int>, in timeZone: TimeZone) {
        (self.weekdays, hours, self.timeZone) = (weekdays, [], timeZone)
    }

    /// Some hours of every day.
    package init(hours: [Span], in timeZone: TimeZone) {
        (weekdays, self.hours, self.timeZone) = (nil, hours, timeZone)
    }

    /// Whether the moment lies in it.
    package func holds(_ moment: Timestamp) -> Bool {
        let (day, second) = local(Self.second(moment))
        // 1970 began on a Thursday.
        if let weekdays { return weekdays.contains(Self.floored(day + 4, 7).rest) }
        return hours.contains { $0.holds(second) }
    }

    /// The first moment after `moment` at which ``holds(_:)`` says something else, whatever the clock is set to between
    /// them; nil where it never does. A rule that waits for it need not ask before.
    package func nextChange(after moment: Timestamp) -> Timestamp? {
        let now = holds(moment)
        var second = Self.second(moment)
        // A week has no more borders than that, each midnight and each change of the clock among them.
        for _ in 0..<(8 * (2 * hours.count + 2)) {
            second = nextBorder(after: second)
            let candidate = Timestamp(nanoseconds: Int64(second) * 1_000_000_000)
            if holds(candidate) != now { return candidate }
        }
        return nil
    }

    /// For people: `Saturday 22:14`.
    func shown(_ moment: Timestamp) -> String {
        let (day, second) = local(Self.second(moment))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let name = ClockWords.weekdays[Self.floored(day + 4, 7).rest]
        return "\(name.prefix(1).uppercased())\(name.dropFirst()) \(two(second / 3_600)):\(two(second / 60 % 60))"
    }

    /// The next second at which the clock on the wall stands at a border, or is set forward or back.
    private func nextBorder(after second: Int) -> Int {
        let time = local(second).second
        let borders = hours.flatMap { [$0.start, $0.end] } + [0]
        let wait = borders.map { Self.floored($0 - time - 1, Self.day).rest + 1 }.min() ?? Self.day
        let next = second + wait
        guard offset(next) != offset(second) else { return next }
        // The clock is set between the two: by halves to the second at which it is.
        var (before, after) = (second, next)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(middle) == offset(second) { before = middle } else { after = middle }
        }
        return after
    }

    private func local(_ second: Int) -> (day: Int, second: Int) {
        let (day, rest) = Self.floored(second + offset(second), Self.day)
        return (day, rest)
    }

    private func offset(_ second: Int) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
    }

    private static func second(_ moment: Timestamp) -> Int {
        floored(Int(moment.nanoseconds), 1_000_000_000).quotient
    }

    private static func floored(_ value: Int, _ by: Int) -> (quotient: Int, rest: Int) {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: by)
        return rest < 0 ? (quotient - 1, rest + by) : (quotient, rest)
    }
}

/// Days and times of day as rules write them.
enum ClockWords {
    /// From Sunday on.
    static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// The number of a day that is named whole, or by its first three letters.
    static func weekday(_ text: String) -> Int? {
        let word = text.trimmedSpaces.lowercased()
        return weekdays.firstIndex { $0 == word || $0.prefix(3) == word }
    }

    /// Seconds since midnight of `22:00` or `22:00:30`; `24:00` is the end of the day.
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
