import Glibc
import Ledger
import Platform

/// Rules that were in force only until the rule files had been saved, and since when: what was judged by them may have missed
/// others.
package struct PassingRules: Sendable {
    package let ruleSet: RuleSet
    package let since: Timestamp

    package init(_ ruleSet: RuleSet, since: Timestamp) { (self.ruleSet, self.since) = (ruleSet, since) }
}

extension Planner {
    /// Puts rules in force where others were so only for a moment. A folder that came in it counts as judged by the new ones,
    /// so that it arrives for those that it has not met (docs/design/events.md, "Settle").
    ///
    /// - Throws: what the ledger does; then nothing has changed.
    package func putInForce(_ next: RuleSet, after before: PassingRules) async throws {
        let ruleSet = before.ruleSet.id
        while true {
            let found = try await ledger.read { try $0.folders(judgedBy: ruleSet, since: before.since) }
            var came: [FolderRecord] = []
            for (name, folders) in Dictionary(grouping: found, by: \.place) {
                guard let place = presence.place(named: name) else { continue }
                let (presence, lanes) = (presence, lanes)
                let new = try await outcome(unlessHung: .place(name)) {
                    try await lanes.run {
                        // One that lay there before is met for the first time as well, where a rule is the first about folders.
                        try folders.filter { folder in
                            do {
                                let status = try presence.root(of: place).folder(folder.path).status()
                                return status.fingerprint.changed > before.since.nanoseconds
                            } catch is Fault {
                                // It is gone or closed: what becomes of it is news of its own.
                                return false
                            }
                        }
                    }
                }
                came += new ?? []
            }
            let new = came
            let isDone = try await ledger.write { transaction in
                // What is judged meanwhile is not yet among them.
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

/// Rules for files that the ledger knows already.
extension Planner {
    /// Plans for a file what it has missed that was judged by rules which stood in a rule file while that was being saved: for
    /// the rules in force now it arrives, as far as it came since then and they have not had it; else it has changed for those
    /// that were not among the others.
    package func planMissed(
        _ seen: FileRecord, in place: PlaceInfo, under before: PassingRules
    ) async throws -> [PlannedJob] {
        let hasCome = seen.arrived.map { $0 >= before.since } ?? false
        let had = hasCome ? seen.matched?.rules ?? [] : Set(before.ruleSet.rules.map(\.name))
        let missed = Set(ruleSet.rules.map(\.name)).subtracting(had)
        return try await plan(seen, in: place, rules: missed, again: false, as: hasCome ? .arrived : .changed)
    }

    /// Plans `names` (nil: all rules) for a file that the ledger knows already: for a new rule, and for `reprocess`.
    ///
    /// - Parameters:
    ///   - again: also where the rule has run on this content before.
    ///   - event: what has happened to it.
    ///   - isBacklog: whether what arrives comes first.
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

    /// What is known now of a file that was judged since `record` was read: under its name, or under the one that it got.
    private static func successor(of record: FileRecord, in transaction: LedgerTransaction) throws -> FileRecord? {
        let print = record.fingerprint
        let found = try transaction.file(record.place, record.path)
        if found?.present == true { return found }
        let renamed = try transaction.file(record.place, device: print.device, inode: print.inode)
        return renamed?.present == true && renamed?.hash == record.hash ? renamed : nil
    }

    /// - Returns: nil where the ledger knows something else of the file by now.
    private func planKnown(
        _ seen: FileRecord, in place: PlaceInfo, rules names: Set<String>?, again: Bool, as event: FileEvent,
        isBacklog: Bool
    ) async throws -> [PlannedJob]? {
        guard mightWant(seen.path, in: place) else { return [] }
        guard let (record, status, content) = try await read(seen, in: place) else {
            return try await ledger.read { try $0.file(place.name, seen.path) } == seen ? [] : nil
        }
        let found = SeenFile(
            place: place, record: record, status: status, content: .open(content),
            news: .asked(rules: names, again: again, as: event), known: seen, now: clock.now())
        let inForce = inForce
        guard let past = try await past(of: found, inForce.ruleSet) else { return nil }
        let judgement = try await lanes.run { try Judgement(past, found, inForce, self) }
        // One that has changed meanwhile is news.
        guard let judgement else { return [] }
        return try await commit(judgement, isBacklog: isBacklog) { true }
    }

    /// The file, open, and its record with the content's hash, which nothing may have needed before; nil where it is gone,
    /// has changed since, and so is news, or is larger than its place takes.
    private func read(
        _ record: FileRecord, in place: PlaceInfo
    ) async throws -> (FileRecord, FileStatus, Descriptor)? {
        try await reader.run(record.fingerprint.size) {
            guard let file = try open(record.path, in: place) else { return nil }
            let status = try file.status()
            guard status.size <= place.sizeLimit else { return nil }
            if let hash = record.hash {
                // Another version is yet to be judged, and is news then.
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
