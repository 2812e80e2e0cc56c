import DotLifeDomain
import Foundation
import GRDB
import Platform

extension CaptureStore: ExperienceRepository {
    package func create(_ request: ExperienceRequest) async throws -> ExperienceRecord {
        do {
            return try await insert(request, id: UUID(), key: nil, expecting: nil).record
        } catch let fault as Fault {
            throw request.attachments.isEmpty
                ? ExperienceError.saveFailed(fault.message) : ExperienceError.photoStorageFailed(fault.message)
        }
    }

    package func fetch(_ request: ExperienceFetchRequest) async throws -> [ExperienceRecord] {
        var conditions: [String] = []
        var arguments = StatementArguments()
        func add(_ condition: String, _ values: StatementArguments) {
            conditions.append(condition)
            arguments += values
        }
        if let start = request.startDate { add("timestamp >= ?", [Self.bound(start)]) }
        if let end = request.endDate { add("timestamp < ?", [Self.bound(end)]) }
        if let types = request.momentTypes, !types.isEmpty {
            add("momentTypeRaw IN (\(Self.marks(types.count)))", StatementArguments(types.map(\.rawValue)))
        }
        if let types = request.experienceTypes, !types.isEmpty {
            add("experienceTypeRaw IN (\(Self.marks(types.count)))", StatementArguments(types.map(\.rawValue)))
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        arguments += [max(-1, request.limit ?? -1), max(0, request.offset ?? 0)]
        let (query, bound) = ("\(filter) ORDER BY timestamp DESC, serial DESC LIMIT ? OFFSET ?", arguments)
        return try await reading { try ExperienceRow.all(query, bound, $0) }
    }

    package func fetch(byID id: UUID) async throws -> ExperienceRecord? {
        try await reading { try ExperienceRow.find(id: id, $0) }
    }

    package func delete(byID id: UUID) async throws {
        do {
            let outcome = try await delete(id) { try ExperienceRow.find(id: id, $0) }
            if outcome.record == nil, !outcome.hadLeftovers { throw ExperienceError.notFound(id) }
        } catch let fault as Fault {
            throw ExperienceError.deleteFailed(fault.message)
        }
    }

    package func summaries(for buckets: [TimeBucket]) async throws -> [TimeBucketSummary] {
        let spans = buckets.map { BucketCounts.Span(Self.bound($0.start), Self.bound($0.end)) }
        let counts = try await reading { try BucketCounts.of(spans, $0) }
        return zip(buckets, counts).map { TimeBucketSummary(bucket: $0, count: $1) }
    }

    package func count(in bucket: TimeBucket) async throws -> Int {
        try await summaries(for: [bucket]).first?.count ?? 0
    }

    package func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int] {
        let (first, last) = (Self.bound(start), Self.bound(end))
        return try await reading { db in
            let next = try db.cachedStatement(
                sql: "SELECT MIN(timestamp) FROM experience WHERE timestamp BETWEEN ? AND ?")
            var counts: [Date: Int] = [:]
            var from = first
            // Skips from one day with experiences to the next.
            while let time = try Int64.fetchOne(next, arguments: [from, last]) {
                let day = bucketing.bucket(.day, containing: StoredTime.date(time))
                let dayEnd = max(Self.bound(day.end), time &+ 1)
                // The end itself belongs to the last day.
                let span = BucketCounts.Span(time, last < dayEnd ? last &+ 1 : dayEnd)
                counts[day.start, default: 0] += try BucketCounts.of([span], db).first ?? 0
                guard dayEnd <= last else { break }
                from = dayEnd
            }
            return counts
        }
    }

    private func reading<R: Sendable>(_ body: @escaping @Sendable (Database) throws -> R) async throws -> R {
        do {
            return try await read(body)
        } catch let fault as Fault {
            throw ExperienceError.fetchFailed(fault.message)
        }
    }

    /// The date as a stored time, clamped to the range that can be stored.
    private static func bound(_ date: Date) -> Int64 {
        StoredTime.nanoseconds(date) ?? (date < Date(timeIntervalSince1970: 0) ? .min : .max)
    }

    private static func marks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }
}
