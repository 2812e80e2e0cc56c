import Foundation
import Platform

/// A bucket's relation to the present.
public enum DotPhase: String, Codable, CaseIterable, Sendable {
    /// It has ended.
    case past
    /// It contains the present.
    case current
    /// It has not begun.
    case future

    /// The phase of a bucket at `now`.
    public init(of bucket: TimeBucket, at now: Date) {
        self = bucket.end <= now ? .past : bucket.start <= now ? .current : .future
    }
}

/// One dot of a grid.
public struct GridDot: Hashable, Sendable, Identifiable {
    /// The time range that it represents.
    public let bucket: TimeBucket
    /// The number of experiences in it.
    public let count: Int
    /// Before, around or after now.
    public let phase: DotPhase
    /// Its row, from the top, starting at 0.
    public let row: Int
    /// Its column, from the left, starting at 0.
    public let column: Int
    /// Its short label within the grid: `3pm`, `Mon`, `Week 03`, `Jan`.
    public let label: String
    /// Its label outside the grid: `Tue 3pm`, `Mon, Jan 15`, `Week 03: Jan 15 - Jan 21`, `January 2024`.
    public let extendedLabel: String
    /// For screen readers: `3pm: 2 experiences`. Uses the extended label if the grid has the short one twice.
    public let accessibleText: String

    /// The bucket's id.
    public var id: String { bucket.id }

    /// A dot is filled if and only if its bucket has an experience, in the past, present or future.
    public var isFilled: Bool { count >= 1 }

    /// Whether it contains the present.
    public var isCurrent: Bool { phase == .current }

    /// Whether it has ended.
    public var isPast: Bool { phase == .past }

    /// Whether it has not begun.
    public var isFuture: Bool { phase == .future }
}

/// A time range as a matrix of dots; created by ``GridAggregationService``.
public struct DotGrid: Hashable, Sendable {
    /// The grid's level.
    public let level: ZoomLevel
    /// The day, week, month or year that it shows.
    public let period: TimeBucket
    /// In chronological order. In rows of weeks a column is a weekday, so a month may begin and end mid-row.
    public let dots: [GridDot]
    /// The title above it: `Monday, January 5`, `Jan 5 - Jan 11`, `January 2026`, `2026`. A day or week entirely
    /// outside the current year includes its own: `Friday, January 5, 2024`.
    public let title: String

    /// Derives labels and places from the buckets.
    ///
    /// - Parameter buckets: all of the grid, in chronological order, with the count and phase of each.
    package init(
        level: ZoomLevel, period: TimeBucket, title: String,
        buckets: [(bucket: TimeBucket, count: Int, phase: DotPhase)]
    ) {
        let labels = buckets.map(\.bucket.label)
        let uses = labels.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let places = Self.places(of: buckets.map(\.bucket), level)
        (self.level, self.period, self.title) = (level, period, title)
        dots = zip(zip(buckets, labels), places).map { labelled, place in
            let ((bucket, count, phase), label) = labelled
            let extended = bucket.extendedLabel
            let name = uses[label] == 1 ? label : extended
            return GridDot(
                bucket: bucket, count: count, phase: phase, row: place / level.columns,
                column: place % level.columns, label: label, extendedLabel: extended,
                accessibleText: "\(name): \(experiences(count))")
        }
    }

    /// Row by row. Days are placed below their weekday's name: a month begins within its first row, and a day that a
    /// zone skipped leaves its place empty.
    private static func places(of buckets: [TimeBucket], _ level: ZoomLevel) -> [Int] {
        guard level.scale == .days, let first = buckets.first?.day else { return Array(buckets.indices) }
        return buckets.map { $0.day.daysSince1970 - first.daysSince1970 + first.weekday - 1 }
    }

    /// The number of columns.
    public var columns: Int { level.columns }

    /// The number of rows.
    public var rows: Int { (dots.last?.row ?? -1) + 1 }

    /// Experiences in all dots; weekly dots may extend beyond the month.
    public var count: Int { dots.reduce(0) { $0 + $1.count } }

    /// Title and count: `January 2026: 12 experiences`.
    public var summary: String { "\(title): \(experiences(count))" }

    /// Monday to Sunday if columns are weekdays, else empty.
    public var columnLabels: [String] {
        switch level {
        case .weekByDays, .monthByDays: TimeBucket.weekdays
        case .dayByHours, .monthByWeeks, .yearByMonths: []
        }
    }

    /// The labels at the start of the rows: the first dot's label, the week in a month of days, or nothing if there is
    /// only one row.
    public var rowLabels: [String] {
        lines.map { line in
            guard let first = line.lazy.compactMap({ $0 }).first, level != .weekByDays else { return "" }
            return level == .monthByDays ? "Week \(first.bucket.week.number.padded(2))" : first.label
        }
    }

    /// The dots by row, each with as many places as there are columns; nil for an empty place.
    public var lines: [[GridDot?]] {
        var lines = [[GridDot?]](repeating: Array(repeating: nil, count: columns), count: rows)
        for dot in dots { lines[dot.row][dot.column] = dot }
        return lines
    }

    /// The dot whose bucket contains the date.
    public func dot(containing date: Date) -> GridDot? { dots.first { $0.bucket.contains(date) } }
}

/// `2 experiences`, `1 experience`, `no experiences`.
func experiences(_ count: Int) -> String {
    switch count {
    case ...0: "no experiences"
    case 1: "1 experience"
    default: "\(count) experiences"
    }
}
