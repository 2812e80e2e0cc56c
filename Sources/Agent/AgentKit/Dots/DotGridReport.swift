import DotGrids
import DotLifeDomain
import Foundation
import Platform

/// A grid as a command shows it.
package struct DotGridReport: Sendable, Encodable {
    /// A dot, for programs.
    struct Dot: Encodable {
        let bucket: String
        let start: Date
        let end: Date
        let label: String
        let count: Int
        let isFilled: Bool
        let phase: DotPhase
        let text: String
    }

    private enum Grid {
        case level(DotGrid)
        case year(YearGrid)
    }

    private let grid: Grid
    private let zone: TimeZone

    /// On a terminal, or in a file.
    ///
    /// - Parameter width: columns of the terminal.
    package func text(hasColour: Bool, width: Int?) -> String {
        let terminal = TerminalGrid(hasColour: hasColour, width: width ?? 80)
        return switch grid {
        case .level(let grid): terminal.text(grid)
        case .year(let year): terminal.text(year)
        }
    }

    /// What the signs of ``text(hasColour:width:)`` say.
    package static let legend = "● with experiences  ○ without  · to come  [ ] now"

    /// A line for each dot.
    package var plain: String {
        switch grid {
        case .level(let grid): TerminalGrid.plain(grid)
        case .year(let year): TerminalGrid.plain(year)
        }
    }

    /// The picture.
    ///
    /// - Parameter theme: one of ``themes``.
    package func svg(theme: String) -> String {
        let drawer = SVGGrid(theme: SVGTheme(rawValue: theme) ?? .automatic)
        return switch grid {
        case .level(let grid): drawer.svg(grid)
        case .year(let year): drawer.svg(year)
        }
    }

    /// The sets of colours that there are.
    package static let themes = SVGTheme.allCases.map(\.rawValue)

    /// What a picture of it is called in a folder.
    package var name: String {
        switch grid {
        case .level(let grid): "dots-\(grid.period.name)-\(grid.level.scale.label.lowercased())"
        case .year(let year): "dots-\(year.period.name)-days"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case title, summary, grid, bucket, start, end, timeZone, columns, count, dots
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(zone.identifier, forKey: .timeZone)
        switch grid {
        case .level(let grid):
            try values.encode(grid.title, forKey: .title)
            try values.encode(grid.summary, forKey: .summary)
            try values.encode(grid.level.rawValue, forKey: .grid)
            try values.encode(grid.columns, forKey: .columns)
            try values.encode(grid.count, forKey: .count)
            try encode(grid.period, into: &values)
            let dots = grid.dots.map {
                Dot(
                    bucket: $0.bucket.name, start: $0.bucket.start, end: $0.bucket.end, label: $0.label,
                    count: $0.count, isFilled: $0.isFilled, phase: $0.phase, text: $0.accessibleText)
            }
            try values.encode(dots, forKey: .dots)
        case .year(let year):
            try values.encode(year.title, forKey: .title)
            try values.encode(year.summary, forKey: .summary)
            try values.encode("yearByDays", forKey: .grid)
            try values.encode(year.count, forKey: .count)
            try encode(year.period, into: &values)
            let dots = year.days.map {
                Dot(
                    bucket: $0.bucket.name, start: $0.bucket.start, end: $0.bucket.end, label: $0.label,
                    count: $0.experienceCount, isFilled: $0.isFilled, phase: $0.phase, text: $0.accessibleText)
            }
            try values.encode(dots, forKey: .dots)
        }
    }

    private func encode(_ period: TimeBucket, into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        try values.encode(period.name, forKey: .bucket)
        try values.encode(period.start, forKey: .start)
        try values.encode(period.end, forKey: .end)
    }

    /// Reads the counts and makes the grid.
    ///
    /// - Parameter date: a bucket's name or a word, of which the grid shows the day, week, month or year; nil is now.
    package init(_ choice: GridChoice, date: String?, _ context: DotContext) async throws {
        let service = GridAggregationService(bucketing: context.bucketing)
        let shown = try date.map { try context.bucket($0) }
        zone = context.timeZone
        switch choice.grid {
        case .level(let level):
            grid = .level(
                try await service.grid(
                    at: level, containing: shown.map { Self.instant(of: $0, for: level.period) } ?? context.now,
                    now: context.now, from: context.store))
        case .yearByDays:
            grid = .year(
                try await service.yearGrid(
                    containing: shown.map { Self.instant(of: $0, for: .year) } ?? context.now, now: context.now,
                    from: context.store))
        }
    }

    /// Which of its longer stretches a shorter one lies in its middle says: a week of two months that of its Thursday.
    private static func instant(of bucket: TimeBucket, for period: TimeBucketType) -> Date {
        guard bucket.type.rawValue < period.rawValue else { return bucket.start }
        return bucket.start.addingTimeInterval(bucket.end.timeIntervalSince(bucket.start) / 2)
    }
}
