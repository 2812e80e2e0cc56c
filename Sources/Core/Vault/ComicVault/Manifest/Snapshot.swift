import Platform

/// The sealed file of a snapshot: an object of kind 6, whose key belongs to its generation.
enum Snapshot {
    /// The maximum content in bytes; a vault of a million comics stays below it.
    private static let limit: Int64 = 1 << 30

    /// - Returns: the content, and the head that the first log continues from.
    /// - Throws: ``ManifestDamage/snapshot(gen:why:)``; ``VaultError`` or `Fault` if it could not be read at all.
    static func read(_ folder: SealedVaultFolder, gen: UInt64, keys: VaultKeys) throws -> (
        SnapshotContent, ManifestHead
    ) {
        let file = try folder.open(VaultLayout.snapshot(gen))
        do {
            let key = OpeningKey.snapshot(keys, generation: gen)
            let reader = try ObjectReader(file, ObjectHeader(of: file).id, .snapshot, with: key)
            guard reader.length <= limit else {
                throw ManifestDamage.snapshot(gen: gen, why: "it has \(reader.length) bytes, more than any snapshot")
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(reader.length))
            try reader.stream { bytes += $0 }
            let content = try SnapshotContent(decoding: bytes, gen: gen)
            return (content, ManifestHead(gen: gen, seq: 0, tag: reader.lastTag))
        } catch let error as VaultError {
            if case .decryptionFailed = error { throw error }
            throw ManifestDamage.snapshot(gen: gen, why: error.description)
        }
    }

    /// Seals, syncs, verifies, and only then renames it into place.
    ///
    /// - Returns: the head that the first log continues from.
    static func write(_ content: SnapshotContent, _ folder: SealedVaultFolder, keys: VaultKeys) throws -> ManifestHead {
        let target = VaultLayout.snapshot(content.gen)
        let temporary = try VaultTemporary(folder)
        let sealed = try ObjectWriter.seal(
            .snapshot, ObjectContent(content.encoded), for: .snapshot(keys, generation: content.gen),
            into: temporary.file)
        FaultPoint.reach("sealed")
        try sealed.verify()
        FaultPoint.reach("verified")
        try temporary.become(target)
        return ManifestHead(gen: content.gen, seq: 0, tag: sealed.lastTag)
    }
}
