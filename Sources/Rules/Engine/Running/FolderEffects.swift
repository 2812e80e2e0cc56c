import Ledger
import Platform

/// Updates the ledger after the agent has moved a whole folder. Its contents keep their state and are not new.
extension EffectJournal {
    func moved(
        _ from: BytePath, _ to: BytePath, _ fingerprint: Fingerprint, _ contents: ContentHash, _ job: JobRecord,
        _ transaction: LedgerTransaction
    ) throws {
        let (old, new) = (places.locate(from), places.locate(to))
        var former: FolderRecord?
        // In another place the contents have yet to be judged, unless an undo brings them back.
        let isKept = new.map { $0.place.name != job.place || $0.place.name == old?.place.name } ?? false
        for product in try transaction.removeProducts(within: from) where isKept {
            guard let below = product.path.relative(to: from) else { continue }
            var product = product
            product.path = to.appending(below)
            try transaction.addProduct(product)
        }
        if let old, old.place.name == new?.place.name, let new {
            former = try transaction.renameFolder(old.place.name, old.path, to: new.path)
        } else if let old {
            former = try transaction.folder(old.place.name, old.path)
            let taken = try transaction.moveOutFolder(old.place.name, old.path, by: job.id)
            if let new, new.place.name != job.place {
                try handOn(taken.files, taken.folders, of: old.path, to: new.path, in: new.place, job, transaction)
            }
        }
        guard let new else { return }
        guard new.place.name == job.place else {
            // New in the other place, with the job's lineage, as a file would be.
            let version = try transaction.folder(new.place.name, new.path)?.version ?? 0
            return try transaction.setFolder(
                FolderRecord(
                    place: new.place.name, path: new.path, device: fingerprint.device, inode: fingerprint.inode,
                    version: version + 1, lineage: lineage(of: job)))
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
                    ruleSet: former?.matched?.ruleSet ?? "", rules: (former?.matched?.rules ?? []).union([job.rule])),
                arrived: former?.arrived ?? job.arrived))
        try keepAbove(new.path, job, transaction)
    }

    private func lineage(of job: JobRecord) -> FolderRecord.Lineage {
        FolderRecord.Lineage(firstJob: job.firstJob, depth: job.depth + 1)
    }

    /// Extends the job's chain to folders of other places that received something, since some may have been created
    /// for it. Rules that act on them there continue the chain. A folder stays in its chain whatever the agent does
    /// to its contents.
    func handOn(_ effects: [FileEffect], of job: JobRecord, in transaction: LedgerTransaction) throws {
        var seen: Set<BytePath> = []
        let touched = effects.flatMap(\.touched)
        // Effects that may have created a folder come first.
        for (path, isNew) in [true, false, nil].flatMap({ kind in touched.filter { $0.isNew == kind } }) {
            guard let (place, below) = places.locate(path), !transaction.names.hides(place.name, below) else {
                continue
            }
            var above = below.parent
            while !above.isEmpty, seen.insert(place.root.appending(above)).inserted {
                if let isNew, place.name != job.place {
                    try handOn(above, in: place.name, isNew: isNew, job, transaction)
                } else {
                    try keepLineage(above, in: place.name, transaction)
                }
                above = above.parent
            }
        }
    }

    private func keepLineage(_ path: BytePath, in place: String, _ transaction: LedgerTransaction) throws {
        guard var folder = try transaction.folder(place, path), folder.present, folder.lineage?.digest != nil else {
            return
        }
        folder.lineage?.digest = nil
        try transaction.setFolder(folder)
    }

    /// - Parameter isNew: whether an unknown folder may have been created; if false, it was there before.
    private func handOn(
        _ path: BytePath, in place: String, isNew: Bool, _ job: JobRecord, _ transaction: LedgerTransaction
    ) throws {
        let known = try transaction.folder(place, path)
        guard isNew || known?.present == true else { return }
        var folder = FolderRecord(place: place, path: path, version: (known?.version ?? 0) + 1)
        if let known, known.present { folder = known }
        folder.lineage = lineage(of: job)
        try transaction.setFolder(folder)
    }

    /// The contents of a folder that moved to another place inherit the job's lineage, as the folder does. Each file
    /// is new there; files that were never read are identified by their fingerprint.
    private func handOn(
        _ files: [FileRecord], _ folders: [BytePath], of old: BytePath, to new: BytePath, in place: PlaceInfo,
        _ job: JobRecord, _ transaction: LedgerTransaction
    ) throws {
        var inner: Set<BytePath> = []
        for file in files {
            guard let below = file.path.relative(to: old) else { continue }
            let path = new.appending(below)
            let absolute = place.root.appending(path)
            let known = try transaction.product(absolute).flatMap { $0.firstJob == job.firstJob ? $0 : nil }
            try transaction.addProduct(
                ProductRecord(
                    path: absolute, hash: file.hash ?? ProductRecord.stamp(of: file.fingerprint),
                    firstJob: job.firstJob,
                    depth: job.depth + 1, origin: known?.origin ?? job.origin, job: job.id))
            var above = below.parent
            while !above.isEmpty, inner.insert(above).inserted { above = above.parent }
        }
        inner.formUnion(folders.compactMap { $0.relative(to: old) })
        for below in inner where !below.isEmpty {
            try handOn(new.appending(below), in: place.name, isNew: true, job, transaction)
        }
    }

    /// Folders that a rule moves others into count as matched by it, so that it does not pick up its own target
    /// folders.
    private func keepAbove(_ path: BytePath, _ job: JobRecord, _ transaction: LedgerTransaction) throws {
        var above = path.parent
        while !above.isEmpty {
            var folder = try transaction.folder(job.place, above) ?? FolderRecord(place: job.place, path: above)
            var matched = folder.matched ?? MatchedRules(ruleSet: "", rules: [])
            if matched.rules.insert(job.rule).inserted || !folder.present {
                folder.matched = matched
                folder.present = true
                try transaction.setFolder(folder)
            }
            above = above.parent
        }
    }
}

extension FileEffect {
    /// Paths it created, changed or removed, and whether folders may have been created for them; nil for removed
    /// paths.
    fileprivate var touched: [(path: BytePath, isNew: Bool?)] {
        switch self {
        case .created(let path, _, _): [(path, true)]
        case .moved(let from, let path, _, _), .movedFolder(let from, let path, _, _): [(path, true), (from, nil)]
        case .wrote(let path, _, _, _), .touched(let path, _, _): [(path, false)]
        case .removed(let path): [(path, nil)]
        case .attributed: []
        }
    }
}
