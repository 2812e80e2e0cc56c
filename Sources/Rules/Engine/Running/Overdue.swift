import Ledger
import Platform

/// What a rule was to do with a file that changed before it was done: the present version has arrived for that rule,
/// although for others it has only changed.
extension Planner {
    struct Overdue: Sendable, Equatable {
        let event: FileEvent
        let depth: Int
    }

    /// The rules whose last job for a file came to nothing because the file had changed.
    static func overdue(
        _ place: PlaceInfo, _ path: BytePath, in transaction: LedgerTransaction
    ) throws -> [String: Overdue] {
        var last: [String: JobRecord] = [:]
        for job in try transaction.jobs(of: place.name, path) where last[job.rule] == nil { last[job.rule] = job }
        return last.compactMapValues(overdue)
    }

    /// Nil for what ended well, and for changes: each of those has a job of its own.
    private static func overdue(_ job: JobRecord) -> Overdue? {
        guard job.state == .superseded, let event = FileEvent(rawValue: job.event),
            event == .arrived || event == .renamed
        else { return nil }
        return Overdue(event: event, depth: job.depth)
    }

    /// Plans what a superseded job was to do for the version that has been judged since. One that is yet to be judged
    /// is left to its judgement.
    package func plan(after id: String) async throws -> [PlannedJob] {
        guard let job = try await ledger.read({ try $0.job(id) }), let overdue = Self.overdue(job),
            let rule = ruleSet[job.rule],
            let place = rule.places.first(where: { $0.name == job.place }),
            let record = try await ledger.read({ try $0.file(job.place, job.path) }), record.present,
            let hash = record.hash, hash != job.hash
        else { return [] }
        let arrival = Timestamp.now()
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: record.fingerprint, hash: hash)
        let (host, names, ruleSet) = (host, ledger.names, ruleSet)
        let drafts: [Draft] = try await lanes.run {
            guard let status = try FileStatus.of(place.root.appending(record.path)), status.kind == .file else {
                return []
            }
            let facts = FileFacts(
                place: place, path: record.path, status: status, event: overdue.event, now: arrival, hash: hash)
            return try Self.drafts(
                ruleSet.match(facts).filter { $0.rule.name == rule.name }, facts: facts, file: file,
                version: record.version, arrival: arrival, host: host, names: names, values: [:]
            ).map { $0.deeper(than: overdue.depth) }
        }
        return try await ledger.write { transaction in
            let jobs = try transaction.jobs(of: job.place, job.path)
            guard jobs.first(where: { $0.rule == job.rule })?.id == job.id else { return [] }
            return try Self.add(drafts, lineage: nil, to: transaction)
        }
    }
}
