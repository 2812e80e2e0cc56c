import Foundation

/// Makes grids of dots from counts (docs/design/dots.md, "Levels").
///
/// Time zone, date and present are always parameters; nothing is taken from the process. `now` determines a dot's
/// phase. A separate date selects the day, week, month or year to show, so that last March can be viewed.
public struct GridAggregationService: Hashable, Codable, Sendable {
    /// Divides time into buckets.
    public let bucketing: TimeBucketingService

    /// - Parameter bucketing: with the zone of the hours and days.
    public init(bucketing: TimeBucketingService) { self.bucketing = bucketing }

    /// - Parameter timeZone: the zone of the hours and days.
    public init(timeZone: TimeZone) { self.init(bucketing: TimeBucketingService(timeZone: timeZone)) }

    /// The buckets of a grid's dots, in chronological order.
    public func buckets(of level: ZoomLevel, containing date: Date) -> [TimeBucket] {
        switch level {
        case .dayByHours: bucketing.hourBuckets(ofDayContaining: date)
        case .weekByDays: bucketing.dayBuckets(ofWeekContaining: date)
        case .monthByDays: bucketing.dayBuckets(ofMonthContaining: date)
        case .monthByWeeks: bucketing.weekBuckets(ofMonthContaining: date)
        case .yearByMonths: bucketing.monthBuckets(ofYearContaining: date)
        }
    }

    /// The grid of a view with dots of this scale, for the day, week, month or year of `date`.
    ///
    /// Queries the repository once, for all dots.
    ///
    /// - Throws: the repository's errors.
    public func grid(
        for view: VisualizeViewType, scale: GridScale, containing date: Date, now: Date,
        from repository: any ExperienceRepository
    ) async throws -> DotGrid {
        try await grid(
            at: ZoomLadder(for: view).level(for: scale), containing: date, now: now, from: repository)
    }

    /// A grid for the day, week, month or year of `date`.
    ///
    /// Queries the repository once, for all dots.
    ///
    /// - Throws: the repository's errors.
    public func grid(
        at level: ZoomLevel, containing date: Date, now: Date, from repository: any ExperienceRepository
    ) async throws -> DotGrid {
        let summaries = try await repository.summaries(for: buckets(of: level, containing: date))
        return grid(at: level, containing: date, now: now, counts: Self.counts(summaries))
    }

    /// A grid from given counts: experiences by the first instant of their bucket; an absent one has none.
    public func grid(at level: ZoomLevel, containing date: Date, now: Date, counts: [Date: Int]) -> DotGrid {
        let period = bucketing.bucket(level.period, containing: date)
        return DotGrid(
            level: level, period: period, title: title(of: period, now: now),
            buckets: buckets(of: level, containing: date).map {
                ($0, counts[$0.start] ?? 0, DotPhase(of: $0, at: now))
            })
    }

    /// All days of the year of `date`. Queries the repository once.
    ///
    /// - Throws: the repository's errors.
    public func yearGrid(
        containing date: Date, now: Date, from repository: any ExperienceRepository
    ) async throws -> YearGrid {
        let summaries = try await repository.summaries(for: bucketing.dayBuckets(ofYearContaining: date))
        return yearGrid(containing: date, now: now, counts: Self.counts(summaries))
    }

    /// All days of the year of `date`, from given counts: experiences by the first instant of their day, as
    /// ``ExperienceRepository/experienceCountsByDay(from:to:in:)`` returns them; an absent day has none.
    public func yearGrid(containing date: Date, now: Date, counts: [Date: Int]) -> YearGrid {
        YearGrid(
            period: bucketing.bucket(.year, containing: date),
            days: bucketing.dayBuckets(ofYearContaining: date).map { bucket in
                YearDay(
                    bucket: bucket, experienceCount: counts[bucket.start] ?? 0, phase: DotPhase(of: bucket, at: now))
            })
    }

    /// The title of a day or week outside the current year includes its year.
    private func title(of period: TimeBucket, now: Date) -> String {
        guard period.type == .day || period.type == .week else { return period.title }
        let present = bucketing.bucket(.year, containing: now)
        guard period.end <= present.start || period.start >= present.end else { return period.title }
        return period.titleWithYear
    }

    private static func counts(_ summaries: [TimeBucketSummary]) -> [Date: Int] {
        summaries.reduce(into: [:]) { $0[$1.bucket.start] = $1.count }
    }
}
