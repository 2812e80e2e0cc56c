import DotLifeDomain
import Foundation
import Platform

/// `steward dots today`, `week`, `month` and `year`: a grid of dots. Pictures of it are written by the command line, as
/// the caller's own files.
package struct ShowGrid: DotCommand {
    package typealias Answer = DotGridReport

    package static let name = "dots"
    package static let onlyLooks = true
    private let view: GridChoice.View
    /// One of ``GridChoice/scales``; nil for the view's first grid.
    private let scale: String?
    /// Zoom steps from there.
    private let zoom: [GridChoice.Step]
    /// A bucket's name or a word; the grid shows the day, week, month or year that contains it. nil is now.
    private let date: String?

    package init(_ view: GridChoice.View, scale: String? = nil, zoom: [GridChoice.Step] = [], date: String? = nil) {
        (self.view, self.scale, self.zoom, self.date) = (view, scale, zoom, date)
    }

    package func run(in dots: DotContext) async throws -> DotGridReport {
        let grid = try GridChoice(view, scale: scale, steps: zoom).grid
        let service = GridAggregationService(bucketing: dots.bucketing)
        let shown = try date.map { try dots.bucket($0) }
        func instant(for period: TimeBucketType) -> Date {
            shown.map { Self.instant(of: $0, for: period) } ?? dots.now
        }
        switch grid {
        case .level(let level):
            return .level(
                try await service.grid(
                    at: level, containing: instant(for: level.period), now: dots.now, from: dots.store))
        case .yearByDays:
            return .year(
                try await service.yearGrid(containing: instant(for: .year), now: dots.now, from: dots.store))
        }
    }

    /// A shorter span belongs to the longer span that contains its middle: a week across two months to that of its
    /// Thursday.
    private static func instant(of bucket: TimeBucket, for period: TimeBucketType) -> Date {
        guard bucket.type.rawValue < period.rawValue else { return bucket.start }
        return bucket.start.addingTimeInterval(bucket.end.timeIntervalSince(bucket.start) / 2)
    }

    package func lines(_ answer: DotGridReport, on display: DotDisplay) -> [String] {
        let terminal = TerminalGrid(hasColour: display.hasColour, width: display.width ?? 80)
        let text = answer.drawn(level: terminal.text, year: terminal.text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        return display.width == nil ? lines : lines + ["", Self.legend]
    }

    /// Explains the symbols on the terminal.
    static let legend = "● with experiences  ○ without  · to come  [ ] now"
}

/// A grid as commands show it.
package enum DotGridReport: Sendable {
    case level(DotGrid)
    case year(YearGrid)

    /// One line per dot.
    package var plain: String { drawn(level: TerminalGrid.plain, year: TerminalGrid.plain) }

    /// The grid as a picture.
    ///
    /// - Parameter theme: one of ``themes``.
    package func svg(theme: String) -> String {
        let drawer = SVGGrid(theme: SVGTheme(rawValue: theme) ?? .automatic)
        return drawn(level: drawer.svg, year: drawer.svg)
    }

    /// The available colour themes.
    package static let themes = SVGTheme.allCases.map(\.rawValue)

    /// The base name of its picture in a folder.
    package var name: String {
        drawn(
            level: { "dots-\($0.period.name)-\($0.level.scale.label.lowercased())" },
            year: { "dots-\($0.period.name)-days" })
    }

    fileprivate func drawn(level: (DotGrid) -> String, year: (YearGrid) -> String) -> String {
        switch self {
        case .level(let grid): level(grid)
        case .year(let grid): year(grid)
        }
    }
}

extension DotGridReport: Codable {
    /// A dot, for programs.
    private struct Dot: Codable {
        let bucket: String
        let start: Date
        let end: Date
        let label: String
        let count: Int
        let isFilled: Bool
        let phase: DotPhase
        let text: String

        init(_ dot: GridDot) {
            (bucket, start, end, label) = (dot.bucket.name, dot.bucket.start, dot.bucket.end, dot.label)
            (count, isFilled, phase, text) = (dot.count, dot.isFilled, dot.phase, dot.accessibleText)
        }

        init(_ day: YearDay) {
            (bucket, start, end, label) = (day.bucket.name, day.bucket.start, day.bucket.end, day.label)
            (count, isFilled, phase, text) = (day.experienceCount, day.isFilled, day.phase, day.accessibleText)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case title, summary, grid, bucket, start, end, timeZone, columns, count, dots
    }

    private static let yearByDays = "yearByDays"

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let period: TimeBucket
        switch self {
        case .level(let grid):
            period = grid.period
            try values.encode(grid.title, forKey: .title)
            try values.encode(grid.summary, forKey: .summary)
            try values.encode(grid.level.rawValue, forKey: .grid)
            try values.encode(grid.columns, forKey: .columns)
            try values.encode(grid.count, forKey: .count)
            try values.encode(grid.dots.map { Dot($0) }, forKey: .dots)
        case .year(let year):
            period = year.period
            try values.encode(year.title, forKey: .title)
            try values.encode(year.summary, forKey: .summary)
            try values.encode(Self.yearByDays, forKey: .grid)
            try values.encode(year.count, forKey: .count)
            try values.encode(year.days.map { Dot($0) }, forKey: .dots)
        }
        try values.encode(period.timeZone.identifier, forKey: .timeZone)
        try values.encode(period.name, forKey: .bucket)
        try values.encode(period.start, forKey: .start)
        try values.encode(period.end, forKey: .end)
    }

    /// Decodes counts and phases; everything else about a dot is derived from its bucket.
    ///
    /// - Throws: `DecodingError`, also if the dots do not match the grid.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func known<T>(_ key: CodingKeys, _ read: (String) -> T?) throws -> T {
            let text = try values.decode(String.self, forKey: key)
            if let value = read(text) { return value }
            throw DecodingError.dataCorruptedError(
                forKey: key, in: values, debugDescription: "there is no \(key.rawValue) \(text)")
        }
        let service = GridAggregationService(timeZone: try known(.timeZone) { TimeZone(identifier: $0) })
        let period = try known(.bucket) { service.bucketing.bucket(named: $0) }
        let dots = try values.decode([Dot].self, forKey: .dots)
        func told(_ buckets: [TimeBucket]) throws -> [(bucket: TimeBucket, count: Int, phase: DotPhase)] {
            guard buckets.map(\.name) == dots.map(\.bucket) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .dots, in: values, debugDescription: "they are not those of \(period.name)")
            }
            return zip(buckets, dots).map { ($0, $1.count, $1.phase) }
        }
        if try values.decode(String.self, forKey: .grid) == Self.yearByDays {
            let days = try told(service.bucketing.dayBuckets(ofYearContaining: period.start))
            self = .year(
                YearGrid(
                    period: period,
                    days: days.map { YearDay(bucket: $0.bucket, experienceCount: $0.count, phase: $0.phase) }))
        } else {
            let level = try known(.grid) { ZoomLevel(rawValue: $0) }
            self = .level(
                DotGrid(
                    level: level, period: period, title: try values.decode(String.self, forKey: .title),
                    buckets: try told(service.buckets(of: level, containing: period.start))))
        }
    }
}
