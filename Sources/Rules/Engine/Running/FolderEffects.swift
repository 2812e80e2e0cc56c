import Ledger
import Platform

/// What the ledger knows after the agent has moved a whole folder: what lies in it is where it was in it, and is no news.
extension EffectJournal {
    func moved(
        _ from: BytePath, _ to: BytePath, _ fingerprint: Fingerprint, _ contents: ContentHash, _ job: JobRecord,
        _ transaction: LedgerTransaction
    ) throws {
        let (old, new) = (places.locate(from), places.locate(to))
        var former: FolderRecord?
        if let old, old.place.name == new?.place.name, let new {
            former = try transaction.renameFolder(old.place.name, old.path, to: new.path)
        } else if let old {
            former = try transaction.folder(old.place.name, old.path)
            try transaction.takeFolder(old.place.name, old.path, by: job.id)
        }
        guard let new else { return }
        guard new.place.name == job.place else {
            // News of the other place, with the job's lineage, as a file would be.
            return try arrive(new.path, in: new.place.name, fingerprint, job, transaction)
        }
        if old?.place.name != job.place {
            former = try transaction.returnFolder(job.place, to: new.path, by: job.id) ?? former
        }
        let version = try transaction.folder(job.place, new.path)?.version ?? 0
        try transaction.setFolder(
            FolderRecord(
                place: job.place, path: new.path, device: fingerprint.device, inode: fingerprint.inode,
                digest: contents,
                version: version + 1,
                matched: MatchedRules(
                    era: former?.matched?.era ?? "", rules: (former?.matched?.rules ?? []).union([job.rule])),
                arrived: former?.arrived ?? job.arrived))
        try keepAbove(new.path, job, transaction)
    }

    /// The folder, and those above it that may have been made for it: what rules there do with them is one chain with what
    /// was done here.
    private func arrive(
        _ path: BytePath, in place: String, _ fingerprint: Fingerprint, _ job: JobRecord,
        _ transaction: LedgerTransaction
    ) throws {
        let lineage = FolderRecord.Lineage(id: job.lineage, depth: job.depth + 1)
        let version = try transaction.folder(place, path)?.version ?? 0
        try transaction.setFolder(
            FolderRecord(
                place: place, path: path, device: fingerprint.device, inode: fingerprint.inode, version: version + 1,
                lineage: lineage))
        var above = path.parent
        while !above.isEmpty {
            let known = try transaction.folder(place, above)
            if known?.present != true {
                try transaction.setFolder(
                    FolderRecord(place: place, path: above, version: (known?.version ?? 0) + 1, lineage: lineage))
            }
            above = above.parent
        }
    }

    /// The folders that a rule puts others into have met that rule: it does not take its own shelves for books.
    private func keepAbove(_ path: BytePath, _ job: JobRecord, _ transaction: LedgerTransaction) throws {
        var above = path.parent
        while !above.isEmpty {
            var folder = try transaction.folder(job.place, above) ?? FolderRecord(place: job.place, path: above)
            var matched = folder.matched ?? MatchedRules(era: "", rules: [])
            if matched.rules.insert(job.rule).inserted || !folder.present {
                folder.matched = matched
                folder.present = true
                try transaction.setFolder(folder)
            }
            above = above.parent
        }
    }
}
