import Ledger
import Platform

/// Records effects in the ledger: temporary files before they are filled, and versions written by the agent itself.
package struct EffectJournal: Sendable {
    package let ledger: Ledger
    package let places: PlaceMap
    package let presence: PlacePresence
    /// Places for which the ledger can be asked instead of the disk.
    package let surveyed = SurveyedPlaces()
    private let own: [BytePath]

    /// - Parameters:
    ///   - own: the agent's own folders; symlinks on the way to them are followed.
    ///   - claims: keeps other agents away from the places while this one works in them.
    package init(ledger: Ledger, places: PlaceMap, own: [BytePath] = [], claims: PlaceClaims? = nil) {
        self.ledger = ledger
        self.places = places
        self.own = own
        presence = PlacePresence(ledger: ledger, places: places, claims: claims)
    }

    /// The file access of one piece of work. A path resolves below the root of its place, which is known by identity,
    /// or below the agent's own folders; any other path resolves from the file system root without following
    /// symlinks.
    package func files() -> HeldFiles {
        let (places, presence, own) = (places, presence, own)
        return HeldFiles { path in
            if let (place, relative) = places.locate(path) { return (try presence.root(of: place), relative) }
            return try HeldFiles.root(own.first { path.isWithin($0) && path != $0 } ?? "/", holding: path)
        }
    }

    /// Records a temporary file while it is still empty; with nil, forgets it once it is gone. Blocks.
    package func recordStaged(_ path: BytePath, _ file: FileIdentity?, step: String) throws {
        try ledger.writeBlocking { transaction in
            if let file {
                try transaction.setStaged(path, file, job: step)
            } else {
                try transaction.clearStaged(path: path)
            }
        }
    }

    /// ``recordStaged(_:_:step:)`` as a closure.
    package func staging(_ step: String) -> Durable.Record { { try recordStaged($0, $1, step: step) } }

    /// The files that `step` has staged, whatever their names are now. Blocks.
    package func products(of step: String) throws -> [FileIdentity] {
        try ledger.readBlocking { try $0.staged(by: step) }
    }

    /// Whether the file at `entry` is one of ``products(of:)``. Blocks.
    package func isProduct(of step: String, at entry: DirectoryEntry) throws -> Bool {
        try entry.isAny(of: products(of: step))
    }

    /// Enters `effects` in the ledger as the agent's own. In the job's own place they count as judged; in another
    /// place they are new, and carry the job's lineage.
    package func apply(_ effects: [FileEffect], of job: JobRecord, in transaction: LedgerTransaction) throws {
        try handOn(effects, of: job, in: transaction)
        for effect in effects {
            switch effect {
            case .created(let path, let fingerprint, let hash):
                try arrive(path, fingerprint, hash, job, from: nil, origin: job.depth + 1, transaction)
                if isOwnAndScheduled(path, job, transaction) {
                    try transaction.addProduct(
                        ProductRecord(path: path, hash: hash, firstJob: job.firstJob, depth: job.depth + 1, job: job.id)
                    )
                }
            case .moved(let from, let to, let fingerprint, let hash):
                let former = try places.locate(from).flatMap { try transaction.file($0.place.name, $0.path) }
                var (awaited, product): ([DueRecord], ProductRecord?) = ([], nil)
                if let old = places.locate(from), let new = places.locate(to), old.place.name == new.place.name {
                    awaited = try transaction.due(old.place.name, old.path)
                    // Pending timed events continue the same chain under the new name.
                    product = try transaction.product(from)
                }
                try leave(from, transaction)
                // The job's own file keeps its origin; the origin of any other file is not known.
                let origin = isFile(of: job, to) ? job.origin : job.depth + 1
                try arrive(to, fingerprint, hash, job, from: former, origin: origin, transaction)
                // Timed events, whether pending or past, follow the file to its new name.
                if let new = places.locate(to) { try transaction.keepDue(awaited, new.place.name, new.path) }
                if product == nil, job.firstJob != job.id, job.hash == hash,
                    isOwnAndScheduled(to, job, transaction)
                {
                    // The file is back from another place or from the trash, with the content it was made from.
                    product = ProductRecord(
                        path: to, hash: hash, firstJob: job.firstJob, depth: job.depth, origin: origin, job: job.id)
                }
                let isChanged = from == to && product?.hash == former?.hash
                if var product, product.hash == hash || isChanged, places.locate(to)?.place.name == job.place {
                    (product.path, product.hash) = (to, hash)
                    try transaction.addProduct(product)
                }
            case .movedFolder(let from, let to, let fingerprint, let contents):
                try moved(from, to, fingerprint, contents, job, transaction)
            case .removed(let path):
                try leave(path, transaction)
            case .wrote(let path, let base, let fingerprint, let hash):
                try wrote(path, base: base, fingerprint, hash, blocks: [], in: transaction)
            case .touched(let path, let fingerprint, let hash):
                try wrote(path, base: hash, fingerprint, hash, blocks: [], in: transaction)
                try setAttributes(path, Self.attributes(of: path, effects), in: transaction)
            case .attributed: break
            }
        }
    }

    private static func attributes(of wanted: BytePath, _ effects: [FileEffect]) -> [String: String]? {
        for case .attributed(let path, let digests) in effects where path == wanted { return digests }
        return nil
    }

    /// Records attributes that the agent set itself, so that rules on attributes do not see them as a change.
    private func setAttributes(
        _ path: BytePath, _ own: [String: String]?, in transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path), var file = try transaction.file(place.name, relative),
            file.present, let seen = file.attributes
        else { return }
        file.attributes = seen.afterOwn(own)
        try transaction.setFile(file)
    }

    /// Records a write to a file that others write too. The judged version moves forward only if `base` was that
    /// version; otherwise the file still counts as changed. The agent's own blocks never count as a change.
    package func wrote(
        _ path: BytePath, base: ContentHash, _ fingerprint: Fingerprint, _ hash: ContentHash, blocks: [String],
        in transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path) else { return }
        try transaction.addBlocks(place.name, relative, blocks)
        if base != hash, var product = try transaction.product(path), product.hash == base {
            product.hash = hash
            try transaction.addProduct(product)
        }
        guard var file = try transaction.file(place.name, relative), file.present else { return }
        guard file.hash == base else { return }
        if file.fingerprint.inode != fingerprint.inode { (file.birthTime, file.links) = (nil, nil) }
        file.fingerprint = fingerprint
        file.hash = hash
        try transaction.setFile(file)
    }

    /// - Parameters:
    ///   - former: the file's row under its former name.
    ///   - origin: the depth at which it was made.
    private func arrive(
        _ path: BytePath, _ fingerprint: Fingerprint, _ hash: ContentHash, _ job: JobRecord, from former: FileRecord?,
        origin: Int, _ transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path) else { return }
        if place.name == job.place {
            let version = try transaction.file(place.name, relative)?.version ?? 0
            try transaction.setFile(
                FileRecord(
                    place: place.name, path: relative, fingerprint: fingerprint, hash: hash, version: version + 1,
                    // No rule set: the file is the agent's own. Timed rules may still see it arrive later.
                    matched: MatchedRules(ruleSet: "", rules: (former?.matched?.rules ?? []).union([job.rule])),
                    arrived: former?.arrived ?? job.arrived))
            // The file is older than its row if the row is written late, perhaps only after a restart.
            try transaction.setUnreckoned(
                place.name, relative, since: max(job.arrived, Timestamp(nanoseconds: fingerprint.changed)))
        } else {
            try transaction.addProduct(
                ProductRecord(
                    path: path, hash: hash, firstJob: job.firstJob, depth: job.depth + 1, origin: origin, job: job.id))
        }
    }

    /// Whether `path` is where the job's file was last recorded.
    private func isFile(of job: JobRecord, _ path: BytePath) -> Bool {
        places.locate(path).map { JobRecord.FileLocation(place: $0.place.name, path: $0.path) } == job.whereabouts
    }

    /// Files that the job makes in its own place do not arrive there, but schedules do apply to them.
    private func isOwnAndScheduled(_ path: BytePath, _ job: JobRecord, _ transaction: LedgerTransaction) -> Bool {
        guard let (place, relative) = places.locate(path), place.name == job.place else { return false }
        return transaction.mayBeScheduled(place.name, relative)
    }

    private func leave(_ path: BytePath, _ transaction: LedgerTransaction) throws {
        guard let (place, relative) = places.locate(path) else { return }
        try transaction.setGone(place.name, relative)
        // The product will not be judged at this path any more.
        try transaction.removeProduct(path)
    }

    /// Creates the missing parent folders of `target`, but never the folder of its place. Blocks.
    ///
    /// - Throws: `Fault(.transient)` if its place is away.
    package func makeFolders(for target: BytePath, _ files: HeldFiles) throws {
        try presence.require(target)
        try files.makeFolders(for: target)
    }
}
