import DotLifeDomain
import Foundation

/// The simplest possible repository, as a reference for others. Keeps no files.
actor MemoryRepository: ExperienceRepository {
    private var records: [ExperienceRecord] = []

    func create(_ request: ExperienceRequest) throws -> ExperienceRecord {
        let now = Date(timeIntervalSince1970: 1_795_253_400)
        let time = request.timestamp ?? now
        guard abs(time.timeIntervalSince1970) < 9e9 else { throw ExperienceError.saveFailed("no such time") }
        let attachments = request.attachments.enumerated().map { position, source in
            AttachmentRecord(
                id: UUID(), type: source.type ?? .file, localPath: "\(UUID())", originalName: source.originalName,
                position: position)
        }
        let record = ExperienceRecord(
            id: UUID(), timestamp: time, createdAt: now, momentType: request.momentType,
            experienceType: request.experienceType, noteText: request.noteText, linkURL: request.linkURL,
            attachments: attachments)
        records.append(record)
        return record
    }

    func fetch(_ request: ExperienceFetchRequest) -> [ExperienceRecord] {
        let found = records.enumerated().filter { _, record in
            (request.startDate.map { record.timestamp >= $0 } ?? true)
                && (request.endDate.map { record.timestamp < $0 } ?? true)
                && (request.momentTypes.map { $0.isEmpty || $0.contains(record.momentType) } ?? true)
                && (request.experienceTypes.map { $0.isEmpty || $0.contains(record.experienceType) } ?? true)
        }.sorted { ($0.element.timestamp, $0.offset) > ($1.element.timestamp, $1.offset) }.map(\.element)
        let rest = found.dropFirst(max(0, request.offset ?? 0))
        return Array(request.limit.map { $0 < 0 ? rest : rest.prefix($0) } ?? rest)
    }

    func fetch(byID id: UUID) -> ExperienceRecord? { records.first { $0.id == id } }

    func delete(byID id: UUID) throws {
        guard let index = records.firstIndex(where: { $0.id == id }) else { throw ExperienceError.notFound(id) }
        records.remove(at: index)
    }

    func summaries(for buckets: [TimeBucket]) -> [TimeBucketSummary] {
        buckets.map { bucket in
            let end = bucket.end
            let count = records.filter { bucket.start <= $0.timestamp && $0.timestamp < end }.count
            return TimeBucketSummary(bucket: bucket, count: count)
        }
    }

    func count(in bucket: TimeBucket) -> Int { summaries(for: [bucket]).first?.count ?? 0 }

    func experienceCountsByDay(from start: Date, to end: Date, in bucketing: TimeBucketingService) -> [Date: Int] {
        records.filter { start <= $0.timestamp && $0.timestamp <= end }.reduce(into: [:]) {
            $0[bucketing.bucket(.day, containing: $1.timestamp).start, default: 0] += 1
        }
    }
}
