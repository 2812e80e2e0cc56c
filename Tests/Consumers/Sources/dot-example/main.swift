import DotLifeDomain
import Foundation

/// A third-party store, in memory.
actor Diary: ExperienceRepository {
    private var records: [ExperienceRecord] = []

    func create(_ request: ExperienceRequest) async throws -> ExperienceRecord {
        let now = Date(timeIntervalSince1970: 1_772_742_000)
        let record = ExperienceRecord(
            id: UUID(), timestamp: request.timestamp ?? now, createdAt: now, momentType: request.momentType,
            experienceType: request.experienceType, noteText: request.noteText, linkURL: request.linkURL)
        records.append(record)
        return record
    }

    func fetch(_ request: ExperienceFetchRequest) async throws -> [ExperienceRecord] {
        records.filter {
            $0.timestamp >= request.startDate ?? .distantPast && $0.timestamp < request.endDate ?? .distantFuture
        }
    }

    func fetch(byID id: UUID) async throws -> ExperienceRecord? { records.first { $0.id == id } }

    func delete(byID id: UUID) async throws {
        guard let place = records.firstIndex(where: { $0.id == id }) else { throw ExperienceError.notFound(id) }
        records.remove(at: place)
    }

    func summaries(for buckets: [TimeBucket]) async throws -> [TimeBucketSummary] {
        buckets.map { bucket in
            TimeBucketSummary(bucket: bucket, count: records.filter { bucket.contains($0.timestamp) }.count)
        }
    }

    func count(in bucket: TimeBucket) async throws -> Int {
        try await fetch(.forBucket(bucket)).count
    }

    func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int] {
        records.filter { start <= $0.timestamp && $0.timestamp <= end }
            .reduce(into: [:]) { $0[bucketing.bucket(.day, containing: $1.timestamp).start, default: 0] += 1 }
    }
}

guard let zone = TimeZone(identifier: "America/New_York") else { exit(1) }
let grids = GridAggregationService(timeZone: zone)
let diary = Diary()
let record = try await diary.create(.note("The light on the wall", momentType: .today))
let now = record.timestamp

// Grids and years take one query each.
let ladder = ZoomLadder(for: .today)
for level in ladder.levels {
    let grid = try await grids.grid(at: level, containing: now, now: now, from: diary)
    print("\(grid.summary), \(grid.rows) rows of \(grid.columns)")
}
let weeks = try await grids.grid(for: .week, scale: .weeks, containing: now, now: now, from: diary)
print(weeks.dots.map(\.accessibleText).joined(separator: "; "))
let year = try await grids.yearGrid(containing: now, now: now, from: diary)
print(year.days.first { $0.isToday }?.accessibleText ?? "", year.layout(width: 390, height: 844).columns)

// A name identifies its bucket, and the bucket its contents.
if let day = grids.bucketing.bucket(named: "2026-03-05") {
    print(day.extendedLabel, try await diary.fetch(.forBucket(day)).map { $0.noteText ?? "" })
}

// Errors have types.
do throws(SentenceTemplateError) {
    print(try SentenceTemplate("[moment]: [experience]").render(record))
    _ = try SentenceTemplate("I am glad")
} catch {
    switch error {
    case .missingBoth, .missingMoment, .missingExperience: print(error)
    }
}
do {
    _ = try ExperienceRequest.link("nowhere")
} catch let error as ExperienceError {
    print(error)
}
