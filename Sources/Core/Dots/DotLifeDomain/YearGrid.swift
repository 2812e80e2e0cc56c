import Foundation
import Platform

/// One day of a year.
public struct YearDay: Hashable, Sendable, Identifiable {
    /// The day.
    public let bucket: TimeBucket
    /// The number of experiences in it.
    public let experienceCount: Int
    /// Before, around or after now.
    public let phase: DotPhase

    package init(bucket: TimeBucket, experienceCount: Int, phase: DotPhase) {
        self.bucket = bucket
        self.experienceCount = experienceCount
        self.phase = phase
    }

    /// Its date: `2026-01-05`.
    public var id: String {
        bucket.day.description
    }

    /// Its first instant.
    public var date: Date { bucket.start }

    /// A day is filled if and only if it has an experience.
    public var isFilled: Bool { experienceCount >= 1 }

    /// Whether it contains the present.
    public var isToday: Bool { phase == .current }

    /// Whether it has not begun.
    public var isFuture: Bool { phase == .future }

    /// `January 5`.
    public var label: String { bucket.longMonthAndDay }

    /// For screen readers: `January 5: 2 experiences`, `Today, January 5: no experiences`, `January 5: future`.
    ///
    /// A future day that already has an experience includes both: `January 5: future, 1 experience`.
    public var accessibleText: String {
        let count = experiences(experienceCount)
        return switch phase {
        case .past: "\(label): \(count)"
        case .current: "Today, \(label): \(count)"
        case .future: isFilled ? "\(label): future, \(count)" : "\(label): future"
        }
    }
}

/// All days of a year, row by row from 1 January, regardless of weekdays and months.
public struct YearGrid: Hashable, Sendable {
    /// The year.
    public let period: TimeBucket
    /// 365 or 366 of them; fewer if the zone skipped one.
    public let days: [YearDay]

    package init(period: TimeBucket, days: [YearDay]) {
        self.period = period
        self.days = days
    }

    /// `2026`.
    public var title: String { period.title }

    /// Experiences in the whole year.
    public var count: Int { days.reduce(0) { $0 + $1.experienceCount } }

    /// Title and count: `2026: 12 experiences`.
    public var summary: String { "\(title): \(experiences(count))" }

    /// The days in rows of this many columns; the last row may be shorter.
    public func lines(columns: Int) -> [[YearDay]] {
        let columns = max(columns, 1)
        return stride(from: 0, to: days.count, by: columns).map { Array(days[$0..<min($0 + columns, days.count)]) }
    }

    /// For each of these rows, the short name of the month that begins in it, or nothing.
    public func rowLabels(columns: Int) -> [String] {
        lines(columns: columns).map { line in
            line.first { $0.bucket.day.day == 1 }.map { String($0.label.prefix(3)) } ?? ""
        }
    }

    /// The layout of the days in this space.
    public func layout(width: Double, height: Double) -> YearLayout {
        YearLayout(width: width, height: height, days: days.count)
    }
}

/// The layout of a year's dots: as large as the space allows, in 10 to 20 columns.
public struct YearLayout: Hashable, Codable, Sendable {
    /// The number of columns.
    public let columns: Int
    /// The number of rows.
    public let rows: Int
    /// The diameter of a dot, a multiple of 0.5; 0 if there is no room.
    public let dotSize: Double
    /// The gap between dots, both ways: 0.4 of a dot, a multiple of 0.5.
    public let spacing: Double

    /// The layout for a space of this size, with a margin of one unit at each edge.
    ///
    /// Space is reserved for 365 days even if there are fewer. A space without width or height has one place and no
    /// dot.
    public init(width: Double, height: Double, days: Int) {
        let (width, height) = (width - 2, height - 2)
        guard width > 0, height > 0, width.isFinite, height.isFinite else {
            (columns, rows, dotSize, spacing) = (1, 1, 0, 0)
            return
        }
        let count = max(days, 365)
        // In a far too flat or narrow space the quotient overflows, so it is clamped before the conversion.
        let ideal = (Double(count) / (height / width)).squareRoot().rounded()
        let columns = Int(min(max(ideal, 10), 20))
        let rows = (count + columns - 1) / columns
        let dot = Self.halves(min(width / Self.dots(columns), height / Self.dots(rows)))
        (self.columns, self.rows, dotSize, spacing) = (columns, rows, dot, Self.halves(dot * Self.ratio))
    }

    /// The width of all columns.
    public var width: Double { Self.length(columns, dotSize, spacing) }

    /// The height of all rows.
    public var height: Double { Self.length(rows, dotSize, spacing) }

    private static let ratio = 0.4

    /// The length of this many dots and the gaps between them, in dots.
    private static func dots(_ count: Int) -> Double { Double(count) + Double(count - 1) * ratio }

    private static func halves(_ length: Double) -> Double { (length * 2).rounded(.down) / 2 }

    private static func length(_ count: Int, _ dot: Double, _ space: Double) -> Double {
        Double(count) * dot + Double(count - 1) * space
    }
}
