import Platform

/// How a manifest relates to this host's mark.
package enum ManifestFreshness: Hashable, Sendable {
    /// The mark is on the chain.
    case known
    /// There is no mark: whether this is the newest state of the vault is unknown.
    case firstUse
    /// The mark is not on the chain: an older copy of the vault, or another branch of its history. Nothing may be
    /// written.
    case rolledBack(mark: ManifestHead, disk: ManifestHead)
}

/// A manifest as read from disk, with every record verified and every rule of the chain checked.
struct ManifestReading: Sendable {
    let content: SnapshotContent
    let state: ManifestState
    let head: ManifestHead
    let freshness: ManifestFreshness
    /// The number of the next log.
    let nextLog: UInt64
    /// Records since the snapshot.
    let recordCount: Int
    /// The logs still hold the title of a comic that was removed.
    let hasRemovals: Bool
    /// An incomplete record that was dropped, if any.
    let tornTail: (log: LogName, bytes: Int)?
    /// Earlier logs that end in bytes that are not a record.
    let junk: [LogName]
    /// Logs and snapshots of superseded generations.
    let leftovers: [BytePath]

    /// - Parameter dropsTornTail: the answer to ``ManifestDamage/tornTail(_:bytes:)``.
    /// - Throws: ``VaultError``; nothing is changed on the disk.
    init(_ folder: SealedVaultFolder, keys: VaultKeys, mark: HighWaterMark?, dropsTornTail: Bool = false) throws {
        do {
            try self.init(checking: folder, keys: keys, mark: mark, dropsTornTail: dropsTornTail)
        } catch let damage as ManifestDamage {
            throw VaultError.manifestCorrupted(damage)
        }
    }

    private init(checking folder: SealedVaultFolder, keys: VaultKeys, mark: HighWaterMark?, dropsTornTail: Bool) throws
    {
        if let mark, mark.vault != keys.id { throw VaultError.strangeVault(expected: mark.vault, found: keys.id) }
        let files = try ManifestFiles(folder)
        guard let gen = try files.newest(folder) else {
            throw VaultError.manifestMissing(folder.full(VaultLayout.manifest))
        }
        let (content, start) = try Snapshot.read(folder, gen: gen, keys: keys)
        let chain = try ManifestChain(folder, files.logs(of: gen), keys: keys, after: start)
        var state = content.state
        for record in chain.records {
            do {
                try state.apply(record)
            } catch let fault as Fault {
                throw ManifestDamage.contradiction(fault.message)
            }
        }
        let freshness = Self.freshness(mark?.head, content, chain)
        if let rest = chain.rest {
            guard rest.mayBeTorn, !Self.wasDurable(after: chain.head, mark?.head) else { throw rest.damage }
            if freshness == .firstUse, !dropsTornTail {
                throw ManifestDamage.tornTail(rest.log, bytes: rest.bytes)
            }
            tornTail = (rest.log, rest.bytes)
        } else {
            tornTail = nil
        }
        for old in files.generations where old < gen {
            try chain.checkForFork(of: old, in: files, folder, keys: keys, content)
        }
        self.content = content
        self.state = state
        head = chain.head
        self.freshness = freshness
        nextLog = UInt64(files.logs(of: gen).count)
        recordCount = chain.records.count
        hasRemovals = chain.records.contains { if case .removed = $0 { true } else { false } }
        junk = chain.junk
        leftovers = files.leftovers(before: gen)
    }

    /// Whether the host remembers records of this generation beyond the last good one.
    private static func wasDurable(after head: ManifestHead, _ mark: ManifestHead?) -> Bool {
        mark.map { $0.gen == head.gen && $0.seq > head.seq } ?? false
    }

    private static func freshness(
        _ mark: ManifestHead?, _ content: SnapshotContent, _ chain: ManifestChain
    ) -> ManifestFreshness {
        guard let mark else { return .firstUse }
        if chain.heads.contains(mark) || content.heads.contains(mark) { return .known }
        return .rolledBack(mark: mark, disk: chain.head)
    }
}

/// The names in the manifest's folder.
struct ManifestFiles: Sendable {
    private var snapshots: Set<UInt64> = []
    private var logs: Set<LogName> = []

    /// - Throws: ``ManifestDamage/strangeFile(_:)`` for a name that no vault uses: a sync program's conflicting copy is
    ///   a fork of the manifest.
    init(_ folder: SealedVaultFolder) throws {
        let names: [BytePath]
        do {
            names = try folder.names(in: VaultLayout.manifest)
        } catch let fault as Fault where fault.errno == 2 {
            throw VaultError.manifestMissing(folder.full(VaultLayout.manifest))
        }
        for name in names {
            if let gen = VaultLayout.snapshotGeneration(name) {
                snapshots.insert(gen)
            } else if let log = LogName(name) {
                logs.insert(log)
            } else {
                throw ManifestDamage.strangeFile(name)
            }
        }
    }

    var generations: [UInt64] { snapshots.union(logs.map(\.gen)).sorted() }

    /// The generation of the newest snapshot; nil if there are no files at all.
    func newest(_ folder: SealedVaultFolder) throws -> UInt64? {
        guard let newest = generations.last else { return nil }
        guard snapshots.contains(newest) else { throw ManifestDamage.snapshotMissing(gen: newest) }
        return newest
    }

    func hasSnapshot(_ gen: UInt64) -> Bool { snapshots.contains(gen) }

    func logs(of gen: UInt64) -> [LogName] { logs.filter { $0.gen == gen }.sorted() }

    /// The leftovers of an interrupted consolidation, in the order in which it removes them: a generation's last log
    /// first, its snapshot last.
    func leftovers(before gen: UInt64) -> [BytePath] {
        generations.filter { $0 < gen }.flatMap { old in
            logs(of: old).reversed().map(VaultLayout.log) + (hasSnapshot(old) ? [VaultLayout.snapshot(old)] : [])
        }
    }
}
