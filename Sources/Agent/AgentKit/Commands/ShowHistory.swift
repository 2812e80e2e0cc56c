import Ledger
import Platform

/// `steward log`: what was done, newest last.
package struct ShowHistory: Query {
    package static let name = "log"
    /// The beginning of a job's id; nil for all.
    private let job: String?
    private let limit: Int
    /// Only entries after this one; 0 for the last ones of all.
    private let after: Int64

    package init(job: String?, limit: Int, after: Int64 = 0) {
        (self.job, self.limit, self.after) = (job, limit, after)
    }

    package func read(_ records: Records) async throws -> [HistoryRecord] {
        let ledger = try records.requireLedger()
        var id: String?
        if let job {
            id = try await ledger.read { try $0.jobs(idPrefix: job) }
                .only("job", beginning: job, shownBy: "steward log").id
        }
        let wanted = id
        return try await ledger.read { try $0.history(limit: limit, after: after, job: wanted) }
    }

    package func lines(_ answer: [HistoryRecord]) -> [String] {
        answer.map { record in
            let place = record.place.map { " \($0)/\(record.path?.description ?? "")" } ?? ""
            let job = record.job.map { " \($0.prefix(12))" } ?? ""
            return "\(record.time)\(job) \(record.kind)\(place): \(record.message)"
        }
    }
}
