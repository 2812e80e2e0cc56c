import Ledger
import Platform

/// Where effects are written down: temporary files before they are filled, and versions that the agent wrote itself.
package struct EffectJournal: Sendable {
    package let ledger: Ledger
    package let places: PlaceMap
    package let presence: PlacePresence
    /// Of which the ledger can be asked instead of the disk.
    package let surveyed = SurveyedPlaces()
    private let own: [BytePath]

    /// - Parameter own: folders of the agent's own, which are reached through whatever links lead to them.
    package init(ledger: Ledger, places: PlaceMap, own: [BytePath] = []) {
        self.ledger = ledger
        self.places = places
        self.own = own
        presence = PlacePresence(ledger: ledger, places: places)
    }

    /// What one piece of work reaches files through: below the root of their place, known by identity; below the agent's
    /// own folders; else from the top of the file system, through no link at all.
    package func files() -> HeldFiles {
        let (places, presence, own) = (places, presence, own)
        return HeldFiles { path in
            if let (place, relative) = places.locate(path) { return (try presence.root(of: place), relative) }
            return try HeldFiles.root(own.first { path.isWithin($0) && path != $0 } ?? "/", holding: path)
        }
    }

    /// Notes a temporary file while it is empty. Blocks.
    package func recordStaged(_ path: BytePath, _ status: FileStatus, step: String) throws {
        try ledger.writeBlocking { try $0.setStaged(path, status, job: step) }
    }

    /// Whether the file at `path` is the product that `step` staged, whatever its name is now. Blocks.
    package func isProduct(of step: String, _ status: FileStatus) throws -> Bool {
        try ledger.readBlocking { try $0.isStaged(by: step, status) }
    }

    /// Enters `effects` in the ledger as the agent's own: in the job's own place they are judged already; in another
    /// place they are news, with the job's lineage.
    package func apply(_ effects: [FileEffect], of job: JobRecord, in transaction: LedgerTransaction) throws {
        try handOn(effects, of: job, in: transaction)
        for effect in effects {
            switch effect {
            case .created(let path, let fingerprint, let hash):
                try arrive(path, fingerprint, hash, job, from: nil, transaction)
            case .moved(let from, let to, let fingerprint, let hash):
                let former = try places.locate(from).flatMap { try transaction.file($0.place.name, $0.path) }
                // What a schedule has yet to do with it is done under its new name.
                var product: ProductRecord?
                if let old = places.locate(from), let new = places.locate(to), old.place.name == new.place.name {
                    try transaction.moveScheduled(old.place.name, old.path, to: new.path)
                    // What time has yet to bring is of the same chain under the new name.
                    product = try transaction.product(from)
                }
                try leave(from, transaction)
                try arrive(to, fingerprint, hash, job, from: former, transaction)
                if var product, product.hash == hash, places.locate(to)?.place.name == job.place {
                    product.path = to
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

    /// What the agent has set of a file's attributes is no news to rules that look at them.
    private func setAttributes(
        _ path: BytePath, _ own: [String: String]?, in transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path), var file = try transaction.file(place.name, relative),
            file.present, let seen = file.attributes
        else { return }
        file.attributes = seen.afterOwn(own)
        try transaction.setFile(file)
    }

    /// A file that both the agent and others write: what was judged moves forward only if `base` was what had been
    /// judged; otherwise the file stays news. Blocks of the agent's own are never news.
    package func wrote(
        _ path: BytePath, base: ContentHash, _ fingerprint: Fingerprint, _ hash: ContentHash, blocks: [String],
        in transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path) else { return }
        try transaction.addBlocks(place.name, relative, blocks)
        guard var file = try transaction.file(place.name, relative), file.present else { return }
        guard file.hash == base else { return }
        if file.fingerprint.inode != fingerprint.inode { file.born = nil }
        file.fingerprint = fingerprint
        file.hash = hash
        try transaction.setFile(file)
    }

    /// - Parameter former: what was known of it by the name that it had.
    private func arrive(
        _ path: BytePath, _ fingerprint: Fingerprint, _ hash: ContentHash, _ job: JobRecord, from former: FileRecord?,
        _ transaction: LedgerTransaction
    ) throws {
        guard let (place, relative) = places.locate(path) else { return }
        if place.name == job.place {
            let version = try transaction.file(place.name, relative)?.version ?? 0
            try transaction.setFile(
                FileRecord(
                    place: place.name, path: relative, fingerprint: fingerprint, hash: hash, version: version + 1,
                    // Of no rules that were in force: it is the agent's own. With time it may arrive for others all the same.
                    matched: MatchedRules(era: "", rules: (former?.matched?.rules ?? []).union([job.rule])),
                    arrived: former?.arrived ?? job.arrived))
        } else {
            try transaction.addProduct(
                ProductRecord(path: path, hash: hash, lineage: job.lineage, depth: job.depth + 1, job: job.id))
        }
    }

    private func leave(_ path: BytePath, _ transaction: LedgerTransaction) throws {
        guard let (place, relative) = places.locate(path) else { return }
        try transaction.setGone(place.name, relative)
        // Nobody will judge it there any more.
        try transaction.removeProduct(path)
    }

    /// Makes the folders that `target` is to lie in, as far as they are missing, but never that of its place. Blocks.
    ///
    /// - Throws: `Fault(.transient)` where its place is away.
    package func makeFolders(for target: BytePath, _ files: HeldFiles) throws {
        try presence.require(target)
        try files.makeFolders(for: target)
    }
}
