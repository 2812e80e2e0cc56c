import ComicArchive
import ComicVault
import Ledger
import Platform
import Rules

/// Undoes an import into a vault.
extension VaultSealing {
    /// Takes the comic out of the vault, back to where it was. A deposit whose file was removed can be opened only by
    /// the unlocked vault.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let service = try services.vaults.service(intent.vault)
        let state = Self.text(receipt, "comic.state").flatMap(Imported.State.init(rawValue:))
        guard let id = Self.text(receipt, "comic.sealed"), let state else {
            throw Fault(.failed, "the ledger does not say what the vault has imported; nothing was changed")
        }
        guard await service.isUnlocked else { return try await undoLocked(state, id, service, context.files) }
        let (entry, isOwn) = try await held(state, id, context, service)
        if entry == nil, !context.resumesUndo || state == .duplicate {
            throw Fault(
                .failed,
                "the vault \(intent.vault) does not contain it: it was removed there, or is a waiting deposit (see "
                    + "`steward vault quarantine`); nothing was changed")
        }
        // If nothing leaves the vault, a file that was to stay needs no restoring.
        let isUntouched = !isOwn && entry != nil && receipt.effects.isEmpty
        let effects = isUntouched ? [] : try await putBack(receipt, entry, context, service)
        if isOwn, let entry { _ = try await service.use { try $0.remove(entry.id) } }
        let back =
            if effects.isEmpty {
                "the file had stayed"
            } else if !isOwn, HiddenNames.isToken(intent.source), intent.trashed == nil {
                "it is back under the name of the vault's copy, because its own is no longer known"
            } else {
                "it is back where it was"
            }
        return Receipt(
            isOwn || entry == nil
                ? "taken out of the vault \(intent.vault); \(back)"
                : "\(back); the vault \(intent.vault) keeps its own",
            effects: effects)
    }

    /// The comic in the vault, and whether this step put it there. It did not if the vault already held the same comic.
    private func held(
        _ state: Imported.State, _ id: String, _ context: StepContext, _ service: VaultService
    ) async throws -> (ComicEntry?, isOwn: Bool) {
        if state != .duplicate, let own = try await service.comic(key: Array(context.stepID.utf8)) {
            return (own, true)
        }
        return try await service.use { vault in
            if state == .duplicate { return (try ComicID(hex: id).map { try vault.comic($0) }, false) }
            // A deposit of a comic that the vault already held was not ingested.
            return (try state == .deposited ? vault.comics(content: intent.hash).first : nil, false)
        }
    }

    /// Restores the source if it was removed or has vanished.
    ///
    /// - Parameter entry: nil if the vault no longer holds the comic, so that it can only be found on disk.
    private func putBack(
        _ receipt: Receipt, _ entry: ComicEntry?, _ context: StepContext, _ service: VaultService
    ) async throws -> [FileEffect] {
        if case .moved(let from, let slot, let fingerprint, let hash)? = receipt.effects.first {
            let back = PuttingBack(services: services.placing, context: context)
            // The intent holds the name even if it is hidden and no longer known elsewhere.
            let moved = FileEffect.moved(intent.trashed?.source ?? from, to: slot, fingerprint, hash)
            return try await services.files.run { try back.restoreFromTrash(moved).effects }
        }
        // A comic that predates the job came from somewhere else.
        let source = HiddenNames.isToken(intent.source) ? nil : intent.source
        guard let target = try source ?? entry.map(origin) else { return [] }
        if let found = try await extracted(to: target, context.files) {
            return receipt.effects.isEmpty ? [] : [found]
        }
        guard let entry else { return [] }
        let files = context.files
        let placed = try await service.use { vault in
            try services.journal.makeFolders(for: target, files)
            return try FileEffect.made(vault.extract(entry.id, to: files.entry(target)).path, files)
        }
        return [placed]
    }

    /// The comic at `target` or an alternative name, if it is there.
    private func extracted(
        to target: BytePath, _ files: HeldFiles
    ) async throws -> FileEffect? {
        try await services.files.run {
            for path in Mover.alternatives(target) {
                guard let status = try files.status(path) else { return nil }
                guard status.kind == .file else { continue }
                let found = try FileEffect.made(path, files)
                if case .created(_, _, intent.hash) = found { return found }
            }
            return nil
        }
    }

    private func origin(of entry: ComicEntry) throws -> BytePath {
        guard let origin = ComicOrigin(entry.source), let place = services.journal.places[name: origin.place] else {
            throw Fault(
                .failed,
                "its original place is no longer configured; use `steward vault extract`")
        }
        return place.root.appending(origin.path)
    }

    private func undoLocked(
        _ state: Imported.State, _ id: String, _ service: VaultService, _ files: HeldFiles
    ) async throws -> Receipt {
        guard state == .deposited, intent.disposition == .keep, let drop = ObjectID(hex: id) else {
            throw Fault(
                .failed,
                "the vault \(intent.vault) is locked, and only it can return the comic; unlock it with `steward vault "
                    + "unlock` and undo again")
        }
        guard !HiddenNames.isToken(intent.source),
            try await services.files.run({
                try files.status(intent.source)?.kind == .file && files.hash(intent.source) == intent.hash
            })
        else {
            throw Fault(
                .failed,
                "the file that was to stay is not known to be there, and the vault \(intent.vault) is locked, which alone "
                    + "could give the comic back; unlock it with `steward vault unlock` and undo again")
        }
        let place = service.place
        try await service.change {
            let vault = try place.open()
            guard try vault.drops().waiting.contains(where: { $0.id == drop }) else {
                throw Fault(.failed, "the deposit was ingested since; unlock the vault and undo again")
            }
            try vault.removeDrop(drop)
        }
        return Receipt("removed the deposit from the vault \(intent.vault); the file had stayed")
    }
}
