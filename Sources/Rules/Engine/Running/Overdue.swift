import Ledger
import Platform

/// Work that a rule still owes because the file changed first: the present version arrives for that rule, although
/// for others it has only changed.
extension Planner {
    package struct Overdue: Sendable, Equatable {
        let event: FileEvent
        let job: JobRecord
        /// The job's first steps, as far as they were done.
        let done: [StepRecord]

        package init(event: FileEvent, job: JobRecord, done: [StepRecord] = []) {
            (self.event, self.job, self.done) = (event, job, done)
        }
    }

    /// The rules whose last job for a file was superseded because the file changed or was renamed.
    ///
    /// - Parameters:
    ///   - jobs: the jobs about the file, latest first.
    ///   - hash: of the file's present content.
    static func overdue(
        _ jobs: [JobRecord], by hash: ContentHash?, in transaction: LedgerTransaction
    ) throws -> [String: Overdue] {
        try Dictionary(jobs.map { ($0.rule, $0) }) { last, _ in last }.compactMapValues {
            try overdue($0, by: hash, in: transaction)
        }
    }

    /// nil for a job that ended well, and for a change followed by another: the later change has its own job. A
    /// rename alone is not a change.
    private static func overdue(
        _ job: JobRecord, by hash: ContentHash?, in transaction: LedgerTransaction
    ) throws -> Overdue? {
        guard job.state == .superseded, let event = FileEvent(rawValue: job.event),
            event == .arrived || event == .renamed || event == .changed && job.hash == hash
        else { return nil }
        return Overdue(
            event: event, job: job, done: Array(try transaction.steps(of: job.id).prefix { $0.state == .done }))
    }

    /// Superseded jobs without a successor, because a crash came in between.
    package func superseded() async throws -> [String] {
        try await ledger.read { try $0.supersededToBePlanned() }
    }

    /// Plans the successors of a superseded job for files judged since: another version at its path, its file at
    /// another path, or both if another file took the path. Unjudged files are left to their judgement.
    package func plan(after id: String) async throws -> [PlannedJob] {
        if let job = try await ledger.read({ try $0.job(id) }), try isAboutFolder(job) {
            try await lookAgain(job)
            return []
        }
        guard let job = try await ledger.read({ try $0.job(id) }), let rule = ruleSet[job.rule],
            let place = rule.places.first(where: { $0.name == job.whereabouts.place })
        else {
            try await ledger.write { try $0.setSuperseded(id, false) }
            return []
        }
        var planned: [(record: FileRecord, drafts: [Draft])] = []
        for record in try await ledger.read({ try Self.successors(of: job, in: $0) }) {
            guard let overdue = try await ledger.read({ try Self.overdue(job, by: record.hash, in: $0) }) else {
                continue
            }
            planned.append((record, try await drafts(for: record, in: place, overdue)))
        }
        let found = planned
        return try await ledger.write { transaction in
            try transaction.setSuperseded(id, false)
            return try found.flatMap { record, drafts -> [PlannedJob] in
                guard try !Self.hasOwnJob(record, besides: job, in: transaction) else { return [] }
                if drafts.isEmpty { try Self.awaitAgain(rule, record.path, in: place, transaction) }
                return try Self.add(drafts, lineage: nil, to: transaction)
            }
        }
    }

    /// Drafts for the work that the rule still owes for a file; empty if the rule does not match it, or the file has
    /// changed again.
    private func drafts(for record: FileRecord, in place: PlaceInfo, _ owed: Overdue) async throws -> [Draft] {
        // The file was never read, because no rule could match it as it is.
        guard let hash = record.hash else { return [] }
        return try await reader.run(record.fingerprint.size) {
            guard let content = try open(record.path, in: place) else { return [] }
            let status = try content.status()
            guard try reader.hash(content) == hash else { return [] }
            let seen = ObservedFile(
                place: place, record: record, status: status, content: .open(content), news: .owed(owed), known: nil,
                now: clock.now())
            return try Judgement(.none, seen, inForce, self)?.drafts ?? []
        }
    }

    private func isAboutFolder(_ job: JobRecord) throws -> Bool {
        try StoredFile(json: job.file, showing: ledger.names).isFolder ?? false
    }

    /// Has the folder judged again; the pending work follows from that.
    private func lookAgain(_ job: JobRecord) async throws {
        let (rule, now) = (ruleSet[job.rule].map(ruleSet.identity), clock.now())
        try await ledger.write { transaction in
            try transaction.setSuperseded(job.id, false)
            guard let rule, let (place, path) = try Self.presentFolder(job, in: transaction) else { return }
            try transaction.setDue(place, path, [rule: now])
        }
    }

    /// Where a superseded job's folder is now. A folder not yet seen under its new name is judged when it is, from
    /// what is known under the old one.
    private static func presentFolder(
        _ job: JobRecord, in transaction: LedgerTransaction
    ) throws -> (place: String, path: BytePath)? {
        let file = try StoredFile(json: job.file, showing: transaction.names)
        let entry = job.whereabouts
        if let print = file.fingerprint,
            let found = try transaction.folder(entry.place, device: print.device, inode: print.inode)
        {
            return (entry.place, found.path)
        }
        return (entry.place, entry.path)
    }

    /// A changed file starts ageing again, so a timed rule may see it arrive a second time.
    private static func awaitAgain(
        _ rule: Rule, _ path: BytePath, in place: PlaceInfo, _ transaction: LedgerTransaction
    ) throws {
        guard rule.condition.looksAtTime, var file = try transaction.file(place.name, path),
            file.matched?.rules.remove(rule.name) != nil
        else { return }
        try transaction.setFile(file)
    }

    /// Files that may succeed the file of a superseded job: another version at its path, and the file itself
    /// elsewhere.
    private static func successors(of job: JobRecord, in transaction: LedgerTransaction) throws -> [FileRecord] {
        let entry = job.whereabouts
        var found: [FileRecord] = []
        if let record = try transaction.file(entry.place, entry.path), record.present, record.hash != job.hash {
            found.append(record)
        }
        if let print = try StoredFile(json: job.file, showing: transaction.names).fingerprint {
            found += try transaction.files(
                entry.place, device: print.device, inode: print.inode, besides: entry.path
            ).prefix(1).filter { $0.hash == job.hash }
        }
        return found
    }

    /// Whether the rule already has another job for the successor of a superseded job's file; a file that arrived
    /// normally is handled normally.
    private static func hasOwnJob(
        _ record: FileRecord, besides job: JobRecord, in transaction: LedgerTransaction
    ) throws -> Bool {
        let entry = JobRecord.FileLocation(place: record.place, path: record.path)
        let others = try transaction.jobs(at: entry).filter { $0.rule == job.rule && $0.id != job.id }
        if entry == job.whereabouts { return others.contains { $0.sequence > job.sequence } }
        return try others.contains { other in
            guard other.event == job.event, other.hash == record.hash,
                other.sequence > job.sequence || other.state != .superseded
            else { return false }
            // Another file with the same content may have had this name before.
            let print = try StoredFile(json: other.file, showing: transaction.names).fingerprint
            return print == nil || print?.inode == record.fingerprint.inode
        }
    }
}

extension Planner.Draft {
    /// For the successor of a superseded job: one level deeper. If only the file's name differs, finished steps stay
    /// finished, and the remaining steps get their values.
    func succeeding(_ late: Planner.Overdue?) throws -> Planner.Draft {
        guard let late else { return self }
        var draft = self
        draft.job.depth = late.job.depth + 1
        draft.job.isBacklog = late.job.isBacklog
        guard isOfFile, let hash = job.hash, hash == late.job.hash, job.digest == late.job.digest,
            late.done.count < steps.count
        else { return draft }
        draft.steps = Array(steps.dropFirst(late.done.count))
        try draft.setValues(try LedgerJSON.decode(Values.self, from: late.job.values).merging(values) { $1 })
        return draft
    }
}
