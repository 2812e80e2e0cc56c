import Foundation
import Platform

/// Where a bucket lies, seen from now.
public enum DotPhase: String, Codable, CaseIterable, Sendable {
    /// It has ended.
    case past
    /// It holds the present.
    case current
    /// It has not begun.
    case future

    /// Of a bucket at `now`.
    public init(of bucket: TimeBucket, at now: Date) {
        self = bucket.end <= now ? .past : bucket.start <= now ? .current : .future
    }
}

/// One dot of a grid.
public struct GridDot: Hashable, Sendable, Identifiable {
    /// The stretch of time that it stands for.
    public let bucket: TimeBucket
    /// Experiences in it.
    public let count: Int
    /// Before, around or after now.
    public let phase: DotPhase
    /// Its row, from the top, of 0.
    public let row: Int
    /// Its column, from the left, of 0.
    public let column: Int
    /// What it is in its grid, in short: `3pm`, `Mon`, `Week 03`, `Jan`.
    public let label: String
    /// What it is by itself: `Tue 3pm`, `Mon, Jan 15`, `Week 03: Jan 15 - Jan 21`, `January 2024`.
    public let extendedLabel: String
    /// For those who hear the grid: `3pm: 2 experiences`. Where the grid has the label twice it is the extended one.
    public let accessibleText: String

    /// The bucket's id.
    public var id: String { bucket.id }

    /// A dot is filled if and only if its bucket holds an experience, whether it is past, current or future.
    public var isFilled: Bool { count >= 1 }

    /// Whether it holds the present.
    public var isCurrent: Bool { phase == .current }

    /// Whether it has ended.
    public var isPast: Bool { phase == .past }

    /// Whether it has not begun.
    public var isFuture: Bool { phase == .future }
}

/// A stretch of time as a matrix of dots; ``GridAggregationService`` makes it.
public struct DotGrid: Hashable, Sendable {
    /// Which grid it is.
    public let level: ZoomLevel
    /// The day, week, month or year that it shows.
    public let period: TimeBucket
    /// In the order of time. In the rows of weeks a column is a weekday, so a month may begin and end within a row.
    public let dots: [GridDot]
    /// What stands above it: `Monday, January 5`, `Jan 5 - Jan 11`, `January 2026`, `2026`. A day or week that has no part in
    /// the present year says which it lies in: `Friday, January 5, 2024`.
    public let title: String

    /// Labels and places follow from the buckets.
    ///
    /// - Parameter buckets: all of the grid, in the order of time, with the experiences in each and where it lies.
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

    /// Row by row. Days stand below their weekday's name: a month begins within its first row, and a day that a zone left
    /// out leaves its place empty.
    private static func places(of buckets: [TimeBucket], _ level: ZoomLevel) -> [Int] {
        guard level.scale == .days, let first = buckets.first?.day else { return Array(buckets.indices) }
        return buckets.map { $0.day.daysSince1970 - first.daysSince1970 + first.weekday - 1 }
    }

    /// Dots side by side.
    public var columns: Int { level.columns }

    /// Rows of dots.
    public var rows: Int { (dots.last?.row ?? -1) + 1 }

    /// Experiences in all dots; where the dots are weeks these may reach beyond the month.
    public var count: Int { dots.reduce(0) { $0 + $1.count } }

    /// Title and count: `January 2026: 12 experiences`.
    public var summary: String { "\(title): \(experiences(count))" }

    /// Monday to Sunday where columns are weekdays, else none.
    public var columnLabels: [String] {
        switch level {
        case .weekByDays, .monthByDays: TimeBucket.weekdays
        case .dayByHours, .monthByWeeks, .yearByMonths: []
        }
    }

    /// What each row begins with: its first dot's label, its week in a month of days, nothing where there is one row alone.
    public var rowLabels: [String] {
        lines.map { line in
            guard let first = line.lazy.compactMap({ $0 }).first, level != .weekByDays else { return "" }
            return level == .monthByDays ? "Week \(first.bucket.week.number.padded(2))" : first.label
        }
    }

    /// The dots by rows, each with as many places as there are columns; nil where there is no dot.
    public var lines: [[GridDot?]] {
        var lines = [[GridDot?]](repeating: Array(repeating: nil, count: columns), count: rows)
        for dot in dots { lines[dot.row][dot.column] = dot }
        return lines
    }

    /// The dot whose bucket holds the instant.
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
