import Platform

/// A duration, in nanoseconds or in calendar months.
package struct Span: Comparable, Sendable {
    private let nanoseconds: Int64
    private let months: Int

    /// Parses `30d`, `1.5 h`, `2 weeks`, `1 month`, `10 years`; nil for anything else.
    package init?(_ text: String) {
        let trimmed = text.trimmedSpaces
        let number = trimmed.prefix { $0.isWholeNumber && $0.isASCII }
        let unit = trimmed.dropFirst(number.count).drop { $0 == " " }
        if let months = Self.calendar[String(unit)] {
            guard let count = Int(number), count <= 12_000 / months else { return nil }
            (nanoseconds, self.months) = (0, count * months)
            return
        }
        let short = Self.words[trimmed.drop { !$0.isLetter }.lowercased()]
        let written = short.map { String(trimmed.prefix { !$0.isLetter }) + $0 } ?? trimmed
        guard let seconds = Quantity.seconds(written) else { return nil }
        (nanoseconds, months) = (Int64((seconds * 1e9).rounded()), 0)
    }

    static let none = Span(nanoseconds: 0, months: 0)
    static let hour = Span(nanoseconds: 3_600_000_000_000, months: 0)

    private init(nanoseconds: Int64, months: Int) {
        self.nanoseconds = nanoseconds
        self.months = months
    }

    private static let calendar = [
        "mo": 1, "month": 1, "months": 1, "y": 12, "year": 12, "years": 12,
    ]
    private static let words = [
        "second": "s", "seconds": "s", "minute": "m", "minutes": "m", "hour": "h", "hours": "h", "day": "d",
        "days": "d",
        "week": "w", "weeks": "w",
    ]

    /// Months are calendar months in local time: a month after 31 January is the last day of February at the same
    /// time of day.
    package func after(_ start: Timestamp, in zone: Zone) -> Timestamp {
        guard months != 0 else { return start.adding(nanoseconds: nanoseconds) }
        let civil = zone.local(at: start).civil
        let end = zone.first(
            notBefore: CivilDateTime(civil.date.adding(months: months), secondOfDay: civil.secondOfDay))
        return Timestamp(whole: end).adding(nanoseconds: start.fraction)
    }

    /// Counts a month as 30 days.
    private var approximate: Double { Double(nanoseconds) + Double(months) * 30 * 86_400 * 1e9 }

    package static func < (left: Span, right: Span) -> Bool { left.approximate < right.approximate }
}
