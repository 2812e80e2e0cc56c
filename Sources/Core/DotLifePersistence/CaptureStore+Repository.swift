import DotLifeDomain
import Foundation
import GRDB
import Platform

extension CaptureStore: ExperienceRepository {
    package func create(_ request: ExperienceRequest) async throws -> ExperienceRecord {
        do {
            return try await insert(request, id: UUID(), key: nil, expecting: nil).record
        } catch let fault as Fault {
            throw request.photo == nil
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
        try await reading { db in
            let query = try db.cachedStatement(
                sql: "SELECT COUNT(*) FROM experience WHERE timestamp >= ? AND timestamp < ?")
            return try buckets.map { bucket in
                let count = try Int.fetchOne(query, arguments: [Self.bound(bucket.start), Self.bound(bucket.end)])
                return TimeBucketSummary(bucket: bucket, count: count ?? 0)
            }
        }
    }

    package func count(in bucket: TimeBucket) async throws -> Int {
        try await summaries(for: [bucket]).first?.count ?? 0
    }

    package func experienceCountsByDay(
        from start: Date, to end: Date, in bucketing: TimeBucketingService
    ) async throws -> [Date: Int] {
        try await reading { db in
            let times = try Int64.fetchCursor(
                db, sql: "SELECT timestamp FROM experience WHERE timestamp BETWEEN ? AND ? ORDER BY timestamp",
                arguments: [Self.bound(start), Self.bound(end)])
            var counts: [Date: Int] = [:]
            var day: (start: Date, end: Date)?
            while let time = try times.next() {
                let date = StoredTime.date(time)
                if let known = day, date < known.end {
                    counts[known.start, default: 0] += 1
                } else {
                    let bucket = bucketing.bucket(.day, containing: date)
                    day = (bucket.start, bucket.end)
                    counts[bucket.start, default: 0] += 1
                }
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

    /// A time to compare with; beyond what can be stored it is the first or last time there is.
    private static func bound(_ date: Date) -> Int64 {
        StoredTime.nanoseconds(date) ?? (date < Date(timeIntervalSince1970: 0) ? .min : .max)
    }

    private static func marks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }
}
