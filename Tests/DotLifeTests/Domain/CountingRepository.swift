import DotLifeDomain
import Foundation

/// Experiences in memory, counting how often counts are requested.
actor CountingRepository: ExperienceRepository {
    private let times: [Date]
    private(set) var questions = 0

    init(_ times: [Date]) { self.times = times }

    func summaries(for buckets: [TimeBucket]) async throws -> [TimeBucketSummary] {
        questions += 1
        return buckets.map { bucket in
            TimeBucketSummary(bucket: bucket, count: times.filter { bucket.contains($0) }.count)
        }
    }

    func count(in bucket: TimeBucket) async throws -> Int { times.filter { bucket.contains($0) }.count }

    func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int] {
        times.filter { start <= $0 && $0 <= end }
            .reduce(into: [:]) { $0[bucketing.bucket(.day, containing: $1).start, default: 0] += 1 }
    }

    func create(_ request: ExperienceRequest) async throws -> ExperienceRecord {
        throw ExperienceError.saveFailed("it is only asked")
    }

    func fetch(_ request: ExperienceFetchRequest) async throws -> [ExperienceRecord] { [] }

    func fetch(byID id: UUID) async throws -> ExperienceRecord? { nil }

    func delete(byID id: UUID) async throws { throw ExperienceError.notFound(id) }
}
