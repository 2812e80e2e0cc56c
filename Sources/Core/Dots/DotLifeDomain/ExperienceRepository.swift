import Foundation

/// What to fetch: every given condition must hold; none is "all". Newest first.
public struct ExperienceFetchRequest: Hashable, Sendable {
    /// Not before this.
    public var startDate: Date?
    /// Before this.
    public var endDate: Date?
    /// Nil or empty: of every kind.
    public var momentTypes: Set<MomentType>?
    /// Nil or empty: of every kind.
    public var experienceTypes: Set<ExperienceType>?
    /// At most so many.
    public var limit: Int?
    /// Without the first so many.
    public var offset: Int?

    /// All conditions, each of which may be left out.
    public init(
        startDate: Date? = nil, endDate: Date? = nil, momentTypes: Set<MomentType>? = nil,
        experienceTypes: Set<ExperienceType>? = nil, limit: Int? = nil, offset: Int? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.momentTypes = momentTypes
        self.experienceTypes = experienceTypes
        self.limit = limit
        self.offset = offset
    }

    /// What lies in the bucket.
    public static func forBucket(_ bucket: TimeBucket) -> ExperienceFetchRequest {
        ExperienceFetchRequest(startDate: bucket.start, endDate: bucket.end)
    }

    /// What lies in the day of `date`.
    public static func forDay(_ date: Date, in bucketing: TimeBucketingService) -> ExperienceFetchRequest {
        forBucket(bucketing.bucket(.day, containing: date))
    }

    /// What lies in the week of `date`.
    public static func forWeek(_ date: Date, in bucketing: TimeBucketingService) -> ExperienceFetchRequest {
        forBucket(bucketing.bucket(.week, containing: date))
    }
}

/// Where experiences are kept (docs/design/dots.md, "Captures"). All errors are ``ExperienceError``, or
/// `CancellationError` where a reading task was cancelled.
public protocol ExperienceRepository: Sendable {
    /// Stores a capture. Its files are in the store before the record is.
    func create(_ request: ExperienceRequest) async throws -> ExperienceRecord

    /// Newest timestamp first; of equal ones the later stored first.
    func fetch(_ request: ExperienceFetchRequest) async throws -> [ExperienceRecord]

    /// The experience of that id, or nil.
    func fetch(byID id: UUID) async throws -> ExperienceRecord?

    /// Removes the experience, then those of its files that no other one has.
    ///
    /// - Throws: ``ExperienceError/notFound(_:)``.
    func delete(byID id: UUID) async throws

    /// The counts of buckets, in the order given.
    func summaries(for buckets: [TimeBucket]) async throws -> [TimeBucketSummary]

    /// How many experiences lie in `[start, end)`.
    func count(in bucket: TimeBucket) async throws -> Int

    /// Counts by the start of their day; both ends belong to it, a day without experiences is absent.
    func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int]
}
