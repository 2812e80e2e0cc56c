import Platform

/// The records of one generation, across all its logs.
struct ManifestChain: Sendable {
    private(set) var records: [ManifestRecord] = []
    /// The snapshot's head, then the one after each record.
    private(set) var heads: [ManifestHead]
    /// The bytes after the last good record of the last log.
    private(set) var rest: (log: LogName, damage: ManifestDamage, bytes: Int, mayBeTorn: Bool)?

    /// Logs, not the last, with bytes after their last good record. The vault never leaves these itself: it supersedes
    /// a torn record with a snapshot as soon as it finds one.
    private(set) var junk: [LogName] = []

    /// The largest log, in bytes; a writer begins the next one long before.
    static let logLimit: Int64 = 64 << 20

    var head: ManifestHead { heads[heads.count - 1] }

    /// - Throws: ``ManifestDamage`` for anything but a complete chain, except at the end of the last log: see ``rest``.
    init(_ folder: SealedVaultFolder, _ logs: [LogName], keys: VaultKeys, after start: ManifestHead) throws {
        heads = [start]
        for (index, name) in logs.enumerated() {
            guard name.n == UInt64(index) else { throw ManifestDamage.gap(before: name) }
            if let rest, !rest.mayBeTorn { throw rest.damage }
            let bytes = try folder.open(VaultLayout.log(name)).readAll(limit: Self.logLimit)
            let contents = try LogContents(bytes, name: name, keys: keys, after: head)
            if contents.records.isEmpty, let found = contents.rest {
                try refuse(bytes, name, keys, found)
                // Torn while it was begun: after a restart, the agent continued from the same head in the next log.
                if rest == nil { rest = (name, found.damage, found.bytes, found.mayBeTorn) }
            } else {
                if let rest { junk.append(rest.log) }
                records += contents.records
                heads += contents.heads
                rest = contents.rest.map { (name, $0.damage, $0.bytes, $0.mayBeTorn) }
            }
        }
    }

    /// Throws the reason why not even the log's first record follows from the head, unless the log may be torn.
    private func refuse(_ bytes: [UInt8], _ name: LogName, _ keys: VaultKeys, _ found: LogContents.Rest) throws {
        if let origin = try LogContents.origin(of: bytes, name: name, keys: keys, among: heads.dropLast()) {
            throw ManifestDamage.fork("the records after \(origin)", name.description)
        }
        if found.mayBeTorn { return }
        if let rest { throw rest.damage }
        if case .header = found.damage { throw found.damage }
        throw name.n == 0 ? found.damage : ManifestDamage.gap(before: name)
    }

    /// Checks that an older generation with files left ended where the snapshot says.
    ///
    /// - Throws: ``ManifestDamage/fork(_:_:)`` if it continued, or is not a generation of this chain.
    func checkForFork(
        of old: UInt64, in files: ManifestFiles, _ folder: SealedVaultFolder, keys: VaultKeys,
        _ content: SnapshotContent
    ) throws {
        guard let end = content.heads.first(where: { $0.gen == old }), files.hasSnapshot(old) else {
            throw ManifestDamage.fork("generation \(old)", "generation \(content.gen)")
        }
        let (_, start) = try Snapshot.read(folder, gen: old, keys: keys)
        let chain = try ManifestChain(folder, files.logs(of: old), keys: keys, after: start)
        // Its last logs may be removed already; the rest must lead to the head or stop before it.
        let isPrefix = chain.head.seq < end.seq || chain.head == end
        guard isPrefix else { throw ManifestDamage.fork("generation \(old)", "generation \(content.gen)") }
    }
}
