/// A daylight saving rule in POSIX format, as in `TZ` and in the footer of a zone file: `CET-1CEST,M3.5.0,M10.5.0/3`
/// (RFC 8536, section 3.3.1).
struct PosixRule: Sendable {
    /// When the clocks are put forward or back.
    struct Change: Sendable {
        enum Day: Sendable {
            /// `J60`: from 1; 29 February is never counted.
            case withoutLeapDay(Int)
            /// `59`: from 0.
            case ofYear(Int)
            /// `M3.5.0`: the last Sunday of March; 0 is Sunday, and 5 the last week.
            case ofWeek(month: Int, week: Int, weekday: Int)
        }

        let day: Day
        /// Seconds since midnight; may be negative, or exceed a day.
        let second: Int

        /// The clock's reading at that moment, in seconds since the beginning of 1970.
        func shown(in year: Int) -> Int {
            let newYear = PosixRule.newYear(year)
            let date: CivilDate
            switch day {
            case .ofYear(let number): date = newYear.adding(days: number)
            case .withoutLeapDay(let number):
                let isLeap = newYear.adding(days: 59).month == 2
                date = newYear.adding(days: number - 1 + (isLeap && number > 59 ? 1 : 0))
            case .ofWeek(let month, let week, let weekday):
                let first = newYear.first(ofMonth: month)
                let found = first.adding(days: (weekday - first.weekday + 7) % 7 + (week - 1) * 7)
                date = found.month == month ? found : found.adding(days: -7)
            }
            return CivilDateTime(date).secondsSince1970 + second
        }
    }

    /// Seconds east of Greenwich.
    let standard: Int
    /// nil if there is none.
    let summer: (offset: Int, start: Change, end: Change)?

    /// No summer time.
    init(offset: Int) { (standard, summer) = (offset, nil) }

    /// nil if it is no rule, or has daylight saving time without dates.
    init?(_ text: String) {
        var scanner = PosixScanner(text)
        guard scanner.name(), let west = scanner.time() else { return nil }
        standard = -west
        guard !scanner.isAtEnd else {
            summer = nil
            return
        }
        guard scanner.name() else { return nil }
        let offset = scanner.time().map { -$0 } ?? standard + 3_600
        guard let start = scanner.change(), let end = scanner.change(), scanner.isAtEnd else { return nil }
        summer = (offset, start, end)
    }

    private static func newYear(_ year: Int) -> CivilDate {
        CivilDate(daysSince1970: 0).adding(months: (year - 1970) * 12)
    }

    /// Seconds from 1970 to the beginning of the year, in UTC.
    func start(of year: Int) -> Int { CivilDateTime(Self.newYear(year)).secondsSince1970 }

    /// In order, each with the offset that starts then.
    func changes(in year: Int) -> [(time: Int, offset: Int)] {
        guard let summer else { return [] }
        let both = [
            (time: summer.start.shown(in: year) - standard, offset: summer.offset),
            (time: summer.end.shown(in: year) - summer.offset, offset: standard),
        ]
        return both.sorted { $0.time < $1.time }
    }
}

/// Reads a rule from left to right.
private struct PosixScanner {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    private mutating func consume(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `CET` or `<+03>`.
    mutating func name() -> Bool {
        if consume("<") {
            rest = rest.drop { $0 != ">" }
            return consume(">")
        }
        let letters = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(letters.count)
        return letters.count >= 3
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard digits.count <= 3, let number = Int(digits), range.contains(number) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// `-1`, `3:30`, `167:59:59`, in seconds.
    mutating func time() -> Int? {
        let sign = consume("-") ? -1 : 1
        if sign == 1 { _ = consume("+") }
        guard let hours = number(0...167) else { return nil }
        var seconds = hours * 3_600
        for unit in [60, 1] where consume(":") {
            guard let part = number(0...59) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// `,M3.5.0/3`.
    mutating func change() -> PosixRule.Change? {
        guard consume(","), let day = day() else { return nil }
        guard consume("/") else { return PosixRule.Change(day: day, second: 7_200) }
        return time().map { PosixRule.Change(day: day, second: $0) }
    }

    private mutating func day() -> PosixRule.Change.Day? {
        if consume("J") { return number(1...365).map { .withoutLeapDay($0) } }
        guard consume("M") else { return number(0...365).map { .ofYear($0) } }
        guard let month = number(1...12), consume("."), let week = number(1...5), consume("."),
            let weekday = number(0...6)
        else { return nil }
        return .ofWeek(month: month, week: week, weekday: weekday)
    }
}
