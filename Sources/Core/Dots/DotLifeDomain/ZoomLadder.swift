/// One of the grids that the two views show: a stretch of time, and what one dot of it stands for.
///
/// The ladders hold the month day by day, as the product describes it. The month by weeks is what ``GridScale/weeks`` asks
/// for; it stands on the same rung, so that zooming leads from either to the week and to the year.
public enum ZoomLevel: String, Codable, CaseIterable, Sendable {
    /// The 23, 24 or 25 hours of a day.
    case dayByHours
    /// The days of a week, Monday to Sunday.
    case weekByDays
    /// The days of a month.
    case monthByDays
    /// The whole weeks that share a day with a month.
    case monthByWeeks
    /// The twelve months of a year.
    case yearByMonths

    /// What one dot stands for.
    public var scale: GridScale {
        switch self {
        case .dayByHours: .hours
        case .weekByDays, .monthByDays: .days
        case .monthByWeeks: .weeks
        case .yearByMonths: .months
        }
    }

    /// What the whole grid stands for.
    public var period: TimeBucketType {
        switch self {
        case .dayByHours: .day
        case .weekByDays: .week
        case .monthByDays, .monthByWeeks: .month
        case .yearByMonths: .year
        }
    }

    /// How many dots stand side by side.
    public var columns: Int {
        switch self {
        case .dayByHours: 6
        case .weekByDays, .monthByDays: 7
        case .monthByWeeks: 5
        case .yearByMonths: 4
        }
    }

    /// The one on its rung of a ladder.
    fileprivate var rung: ZoomLevel { self == .monthByWeeks ? .monthByDays : self }
}

/// The grids of a view from the closest to the widest, and the steps between them.
public struct ZoomLadder: Hashable, Codable, Sendable {
    /// Whose ladder it is.
    public let view: VisualizeViewType

    /// The ladder of a view.
    public init(for view: VisualizeViewType) { self.view = view }

    /// Today: a day, a week, a month, a year. Week: the same without the day.
    public var levels: [ZoomLevel] {
        switch view {
        case .today: [.dayByHours, .weekByDays, .monthByDays, .yearByMonths]
        case .week: [.weekByDays, .monthByDays, .yearByMonths]
        }
    }

    /// Where the view begins.
    public var first: ZoomLevel { levels.first ?? .weekByDays }

    /// The grid of this view whose dots are so large. The week has no hours: there it is the days.
    public func level(for scale: GridScale) -> ZoomLevel {
        switch scale {
        case .hours: view == .today ? .dayByHours : .weekByDays
        case .days: .weekByDays
        case .weeks: .monthByWeeks
        case .months: .yearByMonths
        }
    }

    /// One step closer; the closest stays. A level of the other view alone leads to the first.
    public func zoomedIn(from level: ZoomLevel) -> ZoomLevel { step(-1, from: level) }

    /// One step wider; the widest stays.
    public func zoomedOut(from level: ZoomLevel) -> ZoomLevel { step(1, from: level) }

    /// To the second level from the first, and to the first from everywhere else.
    public func toggled(from level: ZoomLevel) -> ZoomLevel {
        level == first ? zoomedOut(from: level) : first
    }

    private func step(_ count: Int, from level: ZoomLevel) -> ZoomLevel {
        guard let place = levels.firstIndex(of: level.rung) else { return first }
        return levels[min(max(place + count, 0), levels.count - 1)]
    }
}
