import DotLifeDomain
import Platform

/// Which grid of dots to show: the view's first, or one reached by scale or zoom steps.
package struct GridChoice: Sendable, Equatable {
    /// The commands.
    package enum View: String, Codable, CaseIterable, Sendable {
        case today, week, month, year
    }

    /// The two zoom directions.
    package enum Step: String, Codable, CaseIterable, Sendable {
        case `in`, out
    }

    /// The grids.
    enum Grid: Equatable {
        case level(ZoomLevel)
        /// All days of a year; not reachable by zooming.
        case yearByDays
    }

    let grid: Grid

    /// The names of the scales.
    package static let scales = GridScale.allCases.map(scaleName)

    /// - Parameters:
    ///   - scale: one of ``scales``, or nil for the view's first grid.
    ///   - steps: applied in order.
    /// - Throws: `Fault(.usage)` if the view has no such grid, or a step goes beyond the ladder.
    init(_ view: View, scale: String?, steps: [Step]) throws {
        var grid = Self.first(view)
        if let scale {
            guard let wanted = GridScale.allCases.first(where: { Self.scaleName($0) == scale }),
                let found = Self.grids(view)[wanted]
            else {
                let has = GridScale.allCases.filter { Self.grids(view)[$0] != nil }.map(Self.scaleName)
                throw Fault(
                    .usage,
                    "`steward dots \(view.rawValue)` has no grid of \(scale); it has \(has.joined(separator: ", "))"
                        + (scale == "hours" ? ", and `steward dots today` has hours" : ""))
            }
            grid = found
        }
        for step in steps { grid = try Self.step(step, from: grid, view) }
        self.grid = grid
    }

    private static func first(_ view: View) -> Grid {
        switch view {
        case .today: .level(ZoomLadder(for: .today).first)
        case .week: .level(ZoomLadder(for: .week).first)
        case .month: .level(.monthByDays)
        case .year: .yearByDays
        }
    }

    private static func grids(_ view: View) -> [GridScale: Grid] {
        switch view {
        case .today, .week:
            let ladder = ZoomLadder(for: view == .today ? .today : .week)
            // The ladder falls back to another level for a missing scale; here the user gets an error instead.
            return GridScale.allCases.reduce(into: [:]) { grids, scale in
                let level = ladder.level(for: scale)
                if level.scale == scale { grids[scale] = .level(level) }
            }
        case .month:
            return [.days: .level(.monthByDays), .weeks: .level(.monthByWeeks), .months: .level(.yearByMonths)]
        case .year: return [.days: .yearByDays, .months: .level(.yearByMonths)]
        }
    }

    private static func step(_ step: Step, from grid: Grid, _ view: View) throws -> Grid {
        switch grid {
        case .yearByDays:
            guard step == .in else { throw end("the year is the largest grid", step) }
            return .level(.monthByDays)
        case .level(let level):
            let ladder = ZoomLadder(for: view == .today ? .today : .week)
            let next = step == .in ? ladder.zoomedIn(from: level) : ladder.zoomedOut(from: level)
            guard next != level else {
                throw end("the \(period(level.period)) is the \(step == .in ? "closest" : "widest") grid here", step)
            }
            return .level(next)
        }
    }

    private static func end(_ what: String, _ step: Step) -> Fault {
        Fault(.usage, "\(what); one `--zoom \(step.rawValue)` is too many")
    }

    private static func scaleName(_ scale: GridScale) -> String { scale.label.lowercased() }

    private static func period(_ type: TimeBucketType) -> String {
        switch type {
        case .hour: "hour"
        case .day: "day"
        case .week: "week"
        case .month: "month"
        case .year: "year"
        }
    }
}
