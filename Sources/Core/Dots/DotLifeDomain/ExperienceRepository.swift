import Foundation

/// A filter for experiences: all given conditions must hold, and no condition means all. Newest first.
public struct ExperienceFetchRequest: Hashable, Sendable {
    /// The earliest timestamp, inclusive.
    public var startDate: Date?
    /// The latest timestamp, exclusive.
    public var endDate: Date?
    /// Nil or empty: all moments.
    public var momentTypes: Set<MomentType>?
    /// Nil or empty: all types.
    public var experienceTypes: Set<ExperienceType>?
    /// The maximum number of results.
    public var limit: Int?
    /// The number of results to skip.
    public var offset: Int?

    /// All conditions, each of them optional.
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

    /// Experiences in the bucket.
    public static func forBucket(_ bucket: TimeBucket) -> ExperienceFetchRequest {
        ExperienceFetchRequest(startDate: bucket.start, endDate: bucket.end)
    }

    /// Experiences on the day of `date`.
    public static func forDay(_ date: Date, in bucketing: TimeBucketingService) -> ExperienceFetchRequest {
        forBucket(bucketing.bucket(.day, containing: date))
    }

    /// Experiences in the week of `date`.
    public static func forWeek(_ date: Date, in bucketing: TimeBucketingService) -> ExperienceFetchRequest {
        forBucket(bucketing.bucket(.week, containing: date))
    }
}

/// The storage of experiences (docs/design/dots.md, "Captures"). All errors are ``ExperienceError``, or
/// `CancellationError` if a reading task was cancelled.
public protocol ExperienceRepository: Sendable {
    /// Stores a capture. Its files are in the store before its record.
    func create(_ request: ExperienceRequest) async throws -> ExperienceRecord

    /// Newest timestamp first; of equal ones, the last stored first.
    func fetch(_ request: ExperienceFetchRequest) async throws -> [ExperienceRecord]

    /// The experience with that id, or nil.
    func fetch(byID id: UUID) async throws -> ExperienceRecord?

    /// Removes the experience, then those of its files that no other one uses.
    ///
    /// - Throws: ``ExperienceError/notFound(_:)``.
    func delete(byID id: UUID) async throws

    /// The counts of buckets, in the order given.
    func summaries(for buckets: [TimeBucket]) async throws -> [TimeBucketSummary]

    /// The number of experiences in `[start, end)`.
    func count(in bucket: TimeBucket) async throws -> Int

    /// Counts by the start of their day, both ends inclusive; days without experiences are absent.
    func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int]
}
