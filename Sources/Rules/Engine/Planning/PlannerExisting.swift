import Glibc
import Ledger
import Platform

/// Rules that were in force only while the rule files were being saved, and since when. Files judged by them may have
/// missed other rules.
package struct PassingRules: Sendable {
    package let ruleSet: RuleSet
    package let since: Timestamp

    package init(_ ruleSet: RuleSet, since: Timestamp) { (self.ruleSet, self.since) = (ruleSet, since) }
}

extension Planner {
    /// Puts rules in force after a set that was in force only briefly. Folders that came meanwhile count as judged by
    /// the new rules, so that they arrive for those they have not met (docs/design/events.md, "Settle").
    ///
    /// - Throws: errors of the ledger; nothing has changed then.
    package func putInForce(_ next: RuleSet, after before: PassingRules) async throws {
        let ruleSet = before.ruleSet.id
        while true {
            let found = try await ledger.read { try $0.folders(judgedBy: ruleSet, since: before.since) }
            var came: [FolderRecord] = []
            for (name, folders) in Dictionary(grouping: found, by: \.place) {
                guard let place = presence.place(named: name) else { continue }
                let (presence, pool) = (presence, pool)
                let new = try await outcome(unlessHung: .place(name)) {
                    try await pool.run {
                        // Only folders changed since: the first rule about folders sees older ones for the first time
                        // too.
                        try folders.filter { folder in
                            do {
                                let status = try presence.root(of: place).folder(folder.path).status()
                                return status.fingerprint.changed > before.since.nanoseconds
                            } catch is Fault {
                                // The folder is gone or unreadable; that is handled as its own event.
                                return false
                            }
                        }
                    }
                }
                came += new ?? []
            }
            let new = came
            let isDone = try await ledger.write { transaction in
                // The folders judged in the meantime are not included yet.
                guard try transaction.folders(judgedBy: ruleSet, since: before.since) == found else { return false }
                try transaction.registerRuleSet(next.id, rules: next.arrivalIdentities)
                for folder in new { try transaction.setFolder(folder, judgedBy: next.id) }
                self.ruleSet = next
                return true
            }
            if isDone { return }
        }
    }
}

/// Rules for files that the ledger already knows.
extension Planner {
    /// Plans the jobs that a file missed because it was judged while a rule file was being saved. If it arrived in
    /// that time, it arrives for the present rules that have not had it. If not, it has changed for those that were
    /// not in the earlier set.
    package func planMissed(
        _ seen: FileRecord, in place: PlaceInfo, under before: PassingRules
    ) async throws -> [PlannedJob] {
        let hasCome = seen.arrived.map { $0 >= before.since } ?? false
        let had = hasCome ? seen.matched?.rules ?? [] : Set(before.ruleSet.rules.map(\.name))
        let missed = Set(ruleSet.rules.map(\.name)).subtracting(had)
        return try await plan(seen, in: place, rules: missed, again: false, as: hasCome ? .arrived : .changed)
    }

    /// Plans `names` (nil: all rules) for a file that the ledger already knows: for a new rule, and for `reprocess`.
    ///
    /// - Parameters:
    ///   - again: whether to run rules that have already run on this content.
    ///   - event: the event to assume.
    ///   - isBacklog: whether new arrivals come first.
    package func plan(
        _ seen: FileRecord, in place: PlaceInfo, rules names: Set<String>?, again: Bool, as event: FileEvent = .arrived,
        isBacklog: Bool = false
    ) async throws -> [PlannedJob] {
        var next: FileRecord? = seen
        while let record = next {
            let jobs = try await planKnown(
                record, in: place, rules: names, again: again, as: event, isBacklog: isBacklog)
            if let jobs { return jobs }
            next = try await ledger.read { try Self.successor(of: record, in: $0) }
        }
        return []
    }

    /// The newer row of a file that was judged since `record` was read, under its name or its new one.
    private static func successor(of record: FileRecord, in transaction: LedgerTransaction) throws -> FileRecord? {
        let print = record.fingerprint
        let found = try transaction.file(record.place, record.path)
        if found?.present == true { return found }
        let renamed = try transaction.file(record.place, device: print.device, inode: print.inode)
        return renamed?.present == true && renamed?.hash == record.hash ? renamed : nil
    }

    /// - Returns: nil if the ledger's state of the file has changed.
    private func planKnown(
        _ seen: FileRecord, in place: PlaceInfo, rules names: Set<String>?, again: Bool, as event: FileEvent,
        isBacklog: Bool
    ) async throws -> [PlannedJob]? {
        guard mightWant(seen.path, in: place) else { return [] }
        guard let (record, status, content) = try await read(seen, in: place) else {
            return try await ledger.read { try $0.file(place.name, seen.path) } == seen ? [] : nil
        }
        let found = ObservedFile(
            place: place, record: record, status: status, content: .open(content),
            news: .asked(rules: names, again: again, as: event), known: seen, now: clock.now())
        let inForce = inForce
        guard let past = try await past(of: found, inForce.ruleSet) else { return nil }
        let judgement = try await pool.run { try Judgement(past, found, inForce, self) }
        // A changed file is judged normally.
        guard let judgement else { return [] }
        return try await commit(judgement, isBacklog: isBacklog) { true }
    }

    /// The open file and its row, hashed if it was not before; nil if the file is gone, changed (it is then judged
    /// normally), or larger than its place accepts.
    private func read(
        _ record: FileRecord, in place: PlaceInfo
    ) async throws -> (FileRecord, FileStatus, Descriptor)? {
        try await reader.run(record.fingerprint.size) {
            guard let file = try open(record.path, in: place) else { return nil }
            let status = try file.status()
            guard status.size <= place.sizeLimit else { return nil }
            if let hash = record.hash {
                // Another version will be judged later as a change.
                let isSame = try status.fingerprint == record.fingerprint || reader.hash(file) == hash
                return isSame ? (record, status, file) : nil
            }
            guard status.fingerprint == record.fingerprint else { return nil }
            var read = record
            read.hash = try reader.hash(file)
            return (read, status, file)
        }
    }
}
