/// One grid of the two views: its time range, and the time per dot.
///
/// The ladders show the month by days, as the product specifies. The month by weeks is for ``GridScale/weeks``; it is
/// on the same rung, so that zooming leads from either to the week and to the year.
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

    /// The time per dot.
    public var scale: GridScale {
        switch self {
        case .dayByHours: .hours
        case .weekByDays, .monthByDays: .days
        case .monthByWeeks: .weeks
        case .yearByMonths: .months
        }
    }

    /// The time range of the whole grid.
    public var period: TimeBucketType {
        switch self {
        case .dayByHours: .day
        case .weekByDays: .week
        case .monthByDays, .monthByWeeks: .month
        case .yearByMonths: .year
        }
    }

    /// The number of columns.
    public var columns: Int {
        switch self {
        case .dayByHours: 6
        case .weekByDays, .monthByDays: 7
        case .monthByWeeks: 5
        case .yearByMonths: 4
        }
    }

    /// The level on the same rung of a ladder.
    fileprivate var rung: ZoomLevel { self == .monthByWeeks ? .monthByDays : self }
}

/// The grids of a view from the closest to the widest, and the steps between them.
public struct ZoomLadder: Hashable, Codable, Sendable {
    /// Its view.
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

    /// The level at which the view opens.
    public var first: ZoomLevel { levels.first ?? .weekByDays }

    /// The grid of this view with dots of this scale. The week has no hours and shows days instead.
    public func level(for scale: GridScale) -> ZoomLevel {
        switch scale {
        case .hours: view == .today ? .dayByHours : .weekByDays
        case .days: .weekByDays
        case .weeks: .monthByWeeks
        case .months: .yearByMonths
        }
    }

    /// One step closer; the closest stays. A level that only the other view has leads to the first.
    public func zoomedIn(from level: ZoomLevel) -> ZoomLevel { step(-1, from: level) }

    /// One step wider; the widest stays.
    public func zoomedOut(from level: ZoomLevel) -> ZoomLevel { step(1, from: level) }

    /// From the first level to the second, and from any other to the first.
    public func toggled(from level: ZoomLevel) -> ZoomLevel {
        level == first ? zoomedOut(from: level) : first
    }

    private func step(_ count: Int, from level: ZoomLevel) -> ZoomLevel {
        guard let place = levels.firstIndex(of: level.rung) else { return first }
        return levels[min(max(place + count, 0), levels.count - 1)]
    }
}
