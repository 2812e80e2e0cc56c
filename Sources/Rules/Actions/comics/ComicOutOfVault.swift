import ComicArchive
import ComicVault
import Glibc
import Ledger
import Platform
import Rules

/// Undoing an import into a vault.
extension ComicToVault {
    /// Takes the comic out of the vault again, back to where it was. A deposit of which the file was removed can be
    /// opened by the unlocked vault only.
    func undo(_ intent: VaultImport, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let service = try services.vaults.service(intent.vault)
        let state = Self.text(receipt, "comic.state").flatMap(Taken.State.init(rawValue:))
        guard let id = Self.text(receipt, "comic.sealed"), let state else {
            throw Fault(.failed, "the ledger does not say what the vault has taken; nothing was changed")
        }
        guard await service.isUnlocked else { return try await undoLocked(intent, state, id, service) }
        let entry: ComicEntry? =
            if state == .duplicate {
                try await service.use { vault in try ComicID(hex: id).map { try vault.comic($0) } }
            } else {
                try await service.comic(key: Array(context.stepID.utf8))
            }
        guard let entry else {
            if context.resumesUndo, state != .duplicate {
                // It was removed from the vault by what was cut off, and only after the file was back.
                return Receipt(
                    "taken out of the vault \(intent.vault)",
                    effects: try await putBack(intent, receipt, nil, context, service))
            }
            throw Fault(
                .failed,
                "the vault \(intent.vault) does not hold it: it was removed there, or is a deposit that waits (see "
                    + "`steward vault quarantine`); nothing was changed")
        }
        let effects = try await putBack(intent, receipt, entry, context, service)
        if state != .duplicate { _ = try await service.use { try $0.remove(entry.id) } }
        let back = effects.isEmpty ? "the file had stayed" : "it is back where it was"
        return Receipt(
            state == .duplicate
                ? "\(back); the vault \(intent.vault) keeps its own"
                : "taken out of the vault \(intent.vault); \(back)",
            effects: effects)
    }

    /// Puts the source back, if it went.
    ///
    /// - Parameter entry: nil where the vault does not hold the comic any more, so that it can only be found back.
    private func putBack(
        _ intent: VaultImport, _ receipt: Receipt, _ entry: ComicEntry?, _ context: StepContext, _ service: VaultService
    ) async throws -> [FileEffect] {
        switch receipt.effects.first {
        case .moved?:
            let back = PuttingBack(services: services, context: context)
            return try await services.files.run { try back.takeOutOfTrash(receipt.effects.first).effects }
        case .removed?:
            // A comic that was there before the job came from somewhere else.
            let source = NameVeil.isToken(intent.source) ? nil : intent.source
            guard let target = try source ?? entry.map(origin) else { return [] }
            if context.resumesUndo, let placed = try await extracted(intent, to: target) { return [placed] }
            guard let entry else { return [] }
            let placed = try await service.use { vault in
                try Durable.makeDirectory(target.parent)
                let path = try vault.extract(entry.id, to: target)
                guard let status = try FileStatus.of(path) else { throw Fault(.failed, "\(path) vanished", path: path) }
                return Mover.Placed(path: path, fingerprint: status.fingerprint, hash: try ContentHash.ofFile(path))
            }
            return [.created(placed.path, placed.fingerprint, placed.hash)]
        case .created?, .wrote?, .touched?, nil: return []
        }
    }

    /// The comic at `target` or the next names, if it has been extracted there already.
    private func extracted(_ intent: VaultImport, to target: BytePath) async throws -> FileEffect? {
        try await services.files.run {
            for path in Mover.alternatives(target) {
                guard let status = try FileStatus.of(path) else { return nil }
                if status.kind == .file, try ContentHash.ofFile(path) == intent.hash {
                    return .created(path, status.fingerprint, intent.hash)
                }
            }
            return nil
        }
    }

    private func origin(of entry: ComicEntry) throws -> BytePath {
        guard let origin = ComicOrigin(entry.source), let place = services.journal.places[name: origin.place] else {
            throw Fault(
                .failed,
                "the place that it came from is not configured any more; take it out with `steward vault extract`")
        }
        return place.root.appending(origin.path)
    }

    private func undoLocked(
        _ intent: VaultImport, _ state: Taken.State, _ id: String, _ service: VaultService
    ) async throws -> Receipt {
        guard state == .deposited, intent.fate == .keep, let drop = ObjectID(hex: id) else {
            throw Fault(
                .failed,
                "the vault \(intent.vault) is locked, and only it can give the comic back; unlock it with `steward vault "
                    + "unlock` and undo again")
        }
        let place = service.place
        try await service.look {
            let vault = try place.open()
            guard try vault.drops().waiting.contains(where: { $0.id == drop }) else {
                throw Fault(.failed, "the deposit was taken in since; unlock the vault and undo again")
            }
            try vault.removeDrop(drop)
        }
        return Receipt("removed the deposit from the vault \(intent.vault); the file had stayed")
    }
}
