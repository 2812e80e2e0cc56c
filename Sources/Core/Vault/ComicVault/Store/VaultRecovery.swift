import Glibc
import Platform

/// What the start has cleaned up, and what it has found and left alone.
package struct RecoveryReport: Sendable {
    /// Unfinished files of earlier processes, removed.
    package var swept = 0
    /// Objects of removed comics, destroyed.
    package var destroyed: [ObjectID] = []
    /// Those whose header was left intact because the files have other hard links.
    package var shared: [ObjectID] = []
    /// Objects of no comic, moved to the quarantine.
    package var quarantined: [ObjectID] = []
    /// Objects named by the manifest that are missing.
    package var missing: [ObjectReference] = []
    /// Names below `objects/` and `quarantine/` that the vault does not use.
    package var strange: [BytePath] = []
    /// Deposits that had been ingested already, removed.
    package var ingested: [ObjectID] = []

    package init() {}
}

/// Brings the objects in line with the manifest. Requires the vault's lock.
struct VaultRecovery {
    private let folder: SealedVaultFolder
    private let host: HostState
    private let objects: VaultObjects

    init(_ folder: SealedVaultFolder, _ host: HostState) {
        self.folder = folder
        self.host = host
        objects = VaultObjects(folder)
    }

    /// - Parameter isKnown: whether the state is at least as new as any that this host has seen: objects without a
    ///   record were never recorded then.
    func run(_ state: ManifestState, isKnown: Bool) throws -> RecoveryReport {
        var report = RecoveryReport()
        report.swept = try VaultTemporary.sweep(folder)
        try removeUnfinished(state, isKnown, &report)
        try tidyHost()
        let (present, strange) = try objects.present()
        report.strange = strange
        for id in present.sorted() where state.comic(owning: id) == nil {
            if state.tombstones.contains(id) {
                try destroy(id, VaultLayout.object(id), &report)
            } else if try folder.renameNew(VaultLayout.object(id), to: VaultLayout.quarantined(id)) {
                report.quarantined.append(id)
            }
        }
        report.missing = state.objects.filter { !present.contains($0.id) }.sorted { $0.id < $1.id }
        for name in try folder.names(in: VaultLayout.quarantine) {
            guard let id = ObjectID(hex: name.text), state.tombstones.contains(id) else { continue }
            try destroy(id, VaultLayout.quarantined(id), &report)
        }
        try removeIngested(state, &report)
        return report
    }

    /// Objects of comics that were not yet recorded when a process died; their sources still exist.
    private func removeUnfinished(_ state: ManifestState, _ isKnown: Bool, _ report: inout RecoveryReport) throws {
        for (note, ids) in try host.sealing() {
            for id in ids where isKnown && state.comic(owning: id) == nil {
                let path = VaultLayout.object(id)
                guard try folder.status(path)?.kind == .file else { continue }
                _ = try objects.destroy(path)
                report.swept += 1
            }
            try host.forgetSealing(note)
        }
    }

    /// Cleans up after processes of this host that died while depositing.
    private func tidyHost() throws {
        guard let key = try? folder.open(VaultLayout.publicKey, O_RDWR),
            // A depositor holds the lock: leave this to the next start.
            try FileLock.acquire(.exclusive, on: key)
        else { return }
        try host.sweep()
        for deposit in try host.deposits().values where deposit.stage == .making {
            if try folder.status(VaultLayout.drop(deposit.drop)) != nil {
                try host.remember(deposit.at(.waiting))
            } else {
                try host.forget(deposit.drop)
            }
        }
        try FileLock.release(key)
    }

    private func destroy(_ id: ObjectID, _ path: BytePath, _ report: inout RecoveryReport) throws {
        guard try folder.status(path)?.kind == .file else {
            report.strange.append(path)
            return
        }
        report.destroyed.append(id)
        if try !objects.destroy(path) { report.shared.append(id) }
    }

    /// A deposit is recorded as a comic, and resolved on the host's list, before it is unlinked.
    private func removeIngested(_ state: ManifestState, _ report: inout RecoveryReport) throws {
        let own = try host.deposits()
        let ingested = Set(state.comics.values.compactMap(\.drop)).union(
            own.values.filter { $0.stage == .resolved }.map(\.drop))
        for id in Set(try folder.names(in: VaultLayout.drops).compactMap { ObjectID(hex: $0.text) }).union(own.keys)
            .sorted()
        where ingested.contains(id) {
            try folder.remove(VaultLayout.drop(id))
            try folder.sync(VaultLayout.drops)
            try host.forget(id)
            report.ingested.append(id)
        }
    }
}
