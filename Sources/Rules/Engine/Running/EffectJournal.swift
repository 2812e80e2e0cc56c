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

    /// - Parameters:
    ///   - own: folders of the agent's own, which are reached through whatever links lead to them.
    ///   - claims: what keeps other agents from the places, where something is done in them.
    package init(ledger: Ledger, places: PlaceMap, own: [BytePath] = [], claims: PlaceClaims? = nil) {
        self.ledger = ledger
        self.places = places
        self.own = own
        presence = PlacePresence(ledger: ledger, places: places, claims: claims)
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

    /// Notes a temporary file while it is empty, and forgets it when it is gone (nil). Blocks.
    package func recordStaged(_ path: BytePath, _ file: FileIdentity?, step: String) throws {
        try ledger.writeBlocking { transaction in
            if let file {
                try transaction.setStaged(path, file, job: step)
            } else {
                try transaction.clearStaged(path: path)
            }
        }
    }

    /// What ``recordStaged(_:_:step:)`` is as a parameter.
    package func staging(_ step: String) -> Durable.Record { { try recordStaged($0, $1, step: step) } }

    /// What `step` has staged, whatever it is called by now. Blocks.
    package func products(of step: String) throws -> [FileIdentity] {
        try ledger.readBlocking { try $0.staged(by: step) }
    }

    /// Whether the file of that name is one of ``products(of:)``. Blocks.
    package func isProduct(of step: String, at spot: DirectoryEntry) throws -> Bool {
        try spot.isAny(of: products(of: step))
    }

    /// Enters `effects` in the ledger as the agent's own: in the job's own place they are judged already; in another
    /// place they are news, with the job's lineage.
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
                    // What time has yet to bring is of the same chain under the new name.
                    product = try transaction.product(from)
                }
                try leave(from, transaction)
                // The job's own file is the one that it was; of another it is not known.
                let origin = isFile(of: job, to) ? job.origin : job.depth + 1
                try arrive(to, fingerprint, hash, job, from: former, origin: origin, transaction)
                // What time has brought already, and what it has yet to bring, comes to it under its new name.
                if let new = places.locate(to) { try transaction.keepDue(awaited, new.place.name, new.path) }
                if product == nil, job.firstJob != job.id, job.hash == hash,
                    isOwnAndScheduled(to, job, transaction)
                {
                    // It is back from another place, or the trash, and is still what it was made from.
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
    ///   - former: what was known of it by the name that it had.
    ///   - origin: at which depth it was made.
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
                    // Of no rules that were in force: it is the agent's own. With time it may arrive for others all the same.
                    matched: MatchedRules(ruleSet: "", rules: (former?.matched?.rules ?? []).union([job.rule])),
                    arrived: former?.arrived ?? job.arrived))
            // It has been there for longer where it is only now, or by the next life of the agent, that this can be noted.
            try transaction.setUnreckoned(
                place.name, relative, since: max(job.arrived, Timestamp(nanoseconds: fingerprint.changed)))
        } else {
            try transaction.addProduct(
                ProductRecord(
                    path: path, hash: hash, firstJob: job.firstJob, depth: job.depth + 1, origin: origin, job: job.id))
        }
    }

    /// Whether a job's file lies there, as far as the job has been told.
    private func isFile(of job: JobRecord, _ path: BytePath) -> Bool {
        places.locate(path).map { JobRecord.FileLocation(place: $0.place.name, path: $0.path) } == job.whereabouts
    }

    /// Of what is made in the job's own place nothing arrives; but the times of a schedule come to it as to any file there.
    private func isOwnAndScheduled(_ path: BytePath, _ job: JobRecord, _ transaction: LedgerTransaction) -> Bool {
        guard let (place, relative) = places.locate(path), place.name == job.place else { return false }
        return transaction.mayBeScheduled(place.name, relative)
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
