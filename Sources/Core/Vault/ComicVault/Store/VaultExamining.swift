import Glibc
import OwnFiles
import Platform

extension SealedVault {
    /// Opens the vault read-only: nothing is changed in its folder or in this host's state, and the lock keeps others
    /// from changing it.
    ///
    /// - Returns: the report of an unlock; an incomplete last record is left out.
    /// - Throws: like ``unlock(_:dropsTornTail:)``.
    package func examine(_ credential: Credential) throws -> UnlockReport {
        try begin {
            let lock = try folder.open(VaultLayout.description)
            guard try FileLock.acquireSoon(.shared, on: lock) else {
                throw VaultError.inUse(folder.path, holder: Openers.describe(lock.path))
            }
            let opened = try KeySlots(folder, description).open(credential)
            let isKnown = try isKnown(opened.secrets)
            let manifest = try Manifest(lookingAt: folder, keys: opened.secrets.keys, host: host, mark: mark())
            let report = UnlockReport(
                slot: opened.slot, damagedSlots: opened.damaged, freshness: manifest.freshness,
                tornTail: manifest.tornTail?.log, junk: manifest.junk, isNewlyPinned: !isKnown,
                isPublicKeyRestored: !isPublicKeyRight(opened.secrets.keyPair.publicKey))
            return (VaultSession(opened.secrets, lock: lock, manifest), report)
        }
    }

    /// Checks that nothing would be lost: content outside the manifest is not copied to a new vault, and is destroyed
    /// with the old one.
    ///
    /// - Parameter report: from the unlock.
    /// - Throws: `Fault(.refused)` if this host does not know the manifest to be the newest, an object of a comic is
    ///   missing, or an object in the quarantine or elsewhere belongs to no comic; ``VaultError/locked``.
    package func requireWhole(_ report: UnlockReport) throws {
        func refused(_ message: String) -> Fault { Fault(.refused, message, path: folder.path) }
        let (present, strange) = try objects.present()
        let state = try state()
        // Leftovers of a process that died before its record belong to no comic.
        let unfinished = report.freshness == .known ? Set(try host.sealing().values.joined()) : []
        let unknown = present.subtracting(unfinished).filter {
            state.comic(owning: $0) == nil && !state.tombstones.contains($0)
        }
        switch report.freshness {
        case .known: break
        case .firstUse:
            throw refused(
                "this host remembers nothing of the vault \(folder.path): it cannot check that this is the newest copy, "
                    + "and additional comics of a newer one would be destroyed; check with `steward vault list` that it is complete, "
                    + "after which it counts as known, and call rekey again")
        case .rolledBack(let mark, let disk):
            throw refused(
                "the vault \(folder.path) differs from its last state on this host: it is at \(disk), and the host remembers "
                    + "\(mark); no comic of this copy has \(unknown.count) of its objects, and a rekey would destroy them; "
                    + "put the newer manifest/ back, or accept this copy with `steward vault accept-rollback` and "
                    + "adopt what is in its quarantine then, and call rekey again")
        }
        let lost = try list().filter { !$0.objects.allSatisfy { present.contains($0.id) } }
        guard lost.isEmpty else {
            let names = lost.prefix(5).map(\.name.description).joined(separator: ", ")
            throw refused(
                "of \(lost.count) comics files are gone (\(names)\(lost.count > 5 ? ", …" : "")); restore them from a "
                    + "backup (`steward vault verify` names them), or remove these comics, and call rekey again")
        }
        let left = try quarantine().count + unknown.count
        guard left == 0 else {
            throw refused(
                "in the quarantine of \(folder.path) wait objects without a comic (\(left)), and a rekey would destroy "
                    + "them; adopt or discard them with `steward vault quarantine`, and call rekey again")
        }
        let foreign =
            try strange + folder.names(in: VaultLayout.quarantine).map { VaultLayout.quarantine.appending($0) }
            + drops().strange
        guard foreign.isEmpty else {
            let names = foreign.prefix(5).map(\.description).joined(separator: ", ")
            throw refused(
                "in \(folder.path) are files not made by the vault (\(names)), and a rekey would remove them; inspect them, "
                    + "move them away, and call rekey again")
        }
    }
}
