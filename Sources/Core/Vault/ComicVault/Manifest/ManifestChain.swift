import Platform

/// The records of one generation, through all its logs.
struct ManifestChain: Sendable {
    private(set) var records: [ManifestRecord] = []
    /// The snapshot's, then the one after each record.
    private(set) var heads: [ManifestHead]
    /// What stands after the last good record of the last log.
    private(set) var rest: (log: LogName, damage: ManifestDamage, bytes: Int, mayBeTorn: Bool)?

    /// Bytes after the last good record of logs that others follow. A torn record is written over with a snapshot as soon
    /// as it is found: nothing that the vault does leaves them.
    private(set) var junk: [LogName] = []

    /// Bytes of one log; a writer begins the next one long before.
    static let logLimit: Int64 = 64 << 20

    var head: ManifestHead { heads[heads.count - 1] }

    /// - Throws: ``ManifestDamage`` for anything but a whole chain, the end of the last log excepted: see ``rest``.
    init(_ folder: SealedVaultFolder, _ logs: [LogName], keys: VaultKeys, after start: ManifestHead) throws {
        heads = [start]
        for (index, name) in logs.enumerated() {
            guard name.n == UInt64(index) else { throw ManifestDamage.gap(before: name) }
            if let rest, !rest.mayBeTorn { throw rest.damage }
            let bytes = try folder.open(VaultLayout.log(name)).readAll(limit: Self.logLimit)
            let contents = try LogContents(bytes, name: name, keys: keys, after: head)
            if contents.records.isEmpty, let found = contents.rest {
                try refuse(bytes, name, keys, found)
                // Cut off while it was begun: the agent's next life went on from the same head in the next log.
                if rest == nil { rest = (name, found.damage, found.bytes, found.mayBeTorn) }
            } else {
                if let rest { junk.append(rest.log) }
                records += contents.records
                heads += contents.heads
                rest = contents.rest.map { (name, $0.damage, $0.bytes, $0.mayBeTorn) }
            }
        }
    }

    /// Says what is wrong with a log of which not even the first record follows from the head, unless it may have been
    /// cut off.
    private func refuse(_ bytes: [UInt8], _ name: LogName, _ keys: VaultKeys, _ found: LogContents.Rest) throws {
        if let origin = try LogContents.origin(of: bytes, name: name, keys: keys, among: heads.dropLast()) {
            throw ManifestDamage.fork("the records after \(origin)", name.description)
        }
        if found.mayBeTorn { return }
        if let rest { throw rest.damage }
        if case .header = found.damage { throw found.damage }
        throw name.n == 0 ? found.damage : ManifestDamage.gap(before: name)
    }

    /// Sees to it that an older generation, of which files are left, ended where the snapshot says.
    ///
    /// - Throws: ``ManifestDamage/fork(_:_:)`` where it went on, or is none of this chain's generations.
    func checkForFork(
        of old: UInt64, in files: ManifestFiles, _ folder: SealedVaultFolder, keys: VaultKeys,
        _ content: SnapshotContent
    ) throws {
        guard let end = content.heads.first(where: { $0.gen == old }), files.hasSnapshot(old) else {
            throw ManifestDamage.fork("generation \(old)", "generation \(content.gen)")
        }
        let (_, start) = try Snapshot.read(folder, gen: old, keys: keys)
        let chain = try ManifestChain(folder, files.logs(of: old), keys: keys, after: start)
        // Its last logs may be removed already; what is there must lead to the head or stop before it.
        let isPrefix = chain.head.seq < end.seq || chain.head == end
        guard isPrefix else { throw ManifestDamage.fork("generation \(old)", "generation \(content.gen)") }
    }
}
