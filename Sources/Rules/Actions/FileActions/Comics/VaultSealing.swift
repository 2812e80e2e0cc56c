import ComicArchive
import ComicVault
import Ledger
import Platform
import Rules

/// Seals a comic in a vault, exactly once, then disposes of its source.
///
/// The step's id is the key of the import in the vault. The import is noted before the source goes, so that recovery
/// never has to infer from a missing source that it was imported.
struct VaultSealing: Primitive {
    let services: ComicServices
    let intent: VaultImport
    let mode: ValidationMode
    let hidesNames: Bool

    var targets: [BytePath] { [intent.source] + (intent.trashed.map { [$0.slot] } ?? []) }

    func perform(_ context: StepContext) async throws -> Receipt {
        let service = try services.vaults.service(intent.vault)
        if let imported = try await imported(context, service), try await isHeld(imported, context) {
            return try await finish(imported, context)
        }
        let imported = try await importComic(context, service)
        FaultPoint.reach("imported")
        try await note(imported, context)
        FaultPoint.reach("noted")
        return try await finish(imported, context)
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        guard let imported = try await imported(context, services.vaults.service(intent.vault)),
            try await isHeld(imported, context)
        else { return .notDone }
        return .done(try await finish(imported, context))
    }

    /// The vault's record of the import, kept in the ledger until the receipt is committed.
    struct Imported: Codable, Sendable {
        enum State: String, Codable, Sendable {
            case sealed, deposited, duplicate
        }

        let state: State
        /// Of the comic or the deposit.
        let id: String
        /// The file in the vault that holds the comic's archive; nil for a deposit, and in notes of older versions.
        var object: String?

        /// nil if an older version did not note it.
        var made: VaultMade? {
            state == .deposited
                ? ObjectID(hex: id).map(VaultMade.deposit)
                : object.flatMap { ObjectID(hex: $0) }.map(VaultMade.object)
        }
    }

    /// Whether the vault that the configuration names now still holds the import. If its folder was moved, replaced or
    /// unmounted in the meantime, the comic is imported again. If the source is gone, the import counts as held.
    private func isHeld(_ imported: Imported, _ context: StepContext) async throws -> Bool {
        guard let made = imported.made else { return true }
        if try await services.vaults.service(intent.vault).holds(made) { return true }
        let aside = Mover.asideName(expecting: intent.hash, purpose: Self.purpose(context))
        return try await services.files.run {
            try context.files.status(intent.source) == nil
                && context.files.status(intent.source.parent.appending(name: aside)) == nil
        }
    }

    private static func purpose(_ context: StepContext) -> String { "remove \(context.stepID)" }

    /// The import known under this step's key.
    private func imported(_ context: StepContext, _ service: VaultService) async throws -> Imported? {
        if let note = try await services.journal.ledger.read({ try $0.effectNote(step: context.stepID) }) {
            return try LedgerJSON.decode(Imported.self, from: note)
        }
        guard let entry = try await service.comic(key: Array(context.stepID.utf8)) else { return nil }
        let imported = Self.imported(.sealed(.alreadyAdded(entry)))
        try await note(imported, context)
        return imported
    }

    private func note(_ imported: Imported, _ context: StepContext) async throws {
        let text = try LedgerJSON.encode(imported)
        try await services.journal.ledger.write { try $0.setEffectNote(text, step: context.stepID) }
    }

    private func importComic(_ context: StepContext, _ service: VaultService) async throws
        -> Imported
    {
        let source = intent.source
        guard let (place, path) = services.journal.places.locate(source) else {
            throw Fault(.failed, "\(source) is no longer in a place; put its place back into the configuration")
        }
        let files = context.files
        let archive = try await services.files.run { try files.file(source) }
        // A deposit is sealed unexamined; the unlocked vault examines it on ingestion.
        let comic =
            try await service.isUnlocked
            ? SealedComic(report(archive, service), path: path, hash: intent.hash) : nil
        let worker = try await services.comics.started()
        let format =
            if let format = comic?.report.format ?? intent.format { format } else {
                try await judged(archive, hidesNames ? .withheld : .told).format
            }
        let packFailed = PackFailure()
        func sealed(_ duplicates: DuplicatePolicy) -> VaultComic {
            VaultComic(
                archive: archive, hash: intent.hash, name: SealedComic.name(path, format),
                summary: comic?.summary ?? ComicSummary(), source: ComicOrigin(place: place.name, path: path).text,
                key: Array(context.stepID.utf8), duplicates: duplicates,
                parts: {
                    guard let comic else {
                        throw Fault(
                            .transient, "the vault was unlocked in the meantime; the comic will be examined again")
                    }
                    return try comic.parts(of: .file(archive), worker, packFailed: packFailed)
                })
        }
        func attempt(_ duplicates: DuplicatePolicy) async throws -> VaultImportOutcome {
            do {
                return try await service.importComic(sealed(duplicates))
            } catch  where packFailed.isSet {
                return try await service.importComic(sealed(duplicates))
            }
        }
        do {
            let found = try await attempt(intent.keepsCopies ? .keep : .skip)
            guard case .sealed(.duplicate) = found else { return Self.imported(found) }
            // The source may go only if the remaining copy is readable.
            if let whole = try await whole(intent.hash, service) {
                return Self.imported(.sealed(.duplicate(of: whole)))
            }
            return Self.imported(try await attempt(.keep))
        } catch let fault as Fault
            where fault.kind == .refused && fault.code != VaultDeposit.tooLarge && hidesNames
        {
            throw Fault(.refused, "its name is not valid for a comic: it must be one file name of at most 255 bytes")
        }
    }

    private static func imported(_ found: VaultImportOutcome) -> Imported {
        switch found {
        case .deposited(let deposit): Imported(state: .deposited, id: deposit.drop.description)
        case .sealed(.duplicate(of: let entry)): imported(.duplicate, entry)
        case .sealed(let outcome): imported(.sealed, outcome.entry)
        }
    }

    private static func imported(_ state: Imported.State, _ entry: ComicEntry) -> Imported {
        Imported(state: state, id: entry.id.description, object: entry.object(.archive)?.id.description)
    }

    private func whole(_ hash: ContentHash, _ service: VaultService) async throws -> ComicEntry? {
        do {
            return try await service.use { try $0.wholeComic(content: hash) }
        } catch let error as ComicVault.VaultError {
            if case .locked = error { throw error.again }
            throw error.fault
        }
    }

    /// The deciding pass's report if the vault stayed unlocked since; otherwise a new one.
    private func report(
        _ archive: Descriptor, _ service: VaultService
    ) async throws -> ComicReport {
        if let kept = await service.takeKept(intent.hash) as? ComicReport { return kept }
        return try await judged(archive, .told)
    }

    private func judged(_ archive: Descriptor, _ names: EntryNames) async throws -> ComicReport {
        switch try await services.comics.verdict(on: archive, mode: mode, names: names) {
        case .accepted(let report): return report
        case .refused(let reason, let message):
            throw Fault(.refused, hidesNames ? RefusedComic.text(reason.rawValue) : message, code: reason.rawValue)
        }
    }

    // MARK: Afterwards

    private func finish(
        _ imported: Imported, _ context: StepContext
    ) async throws -> Receipt {
        guard try await isHeld(imported, context) else {
            throw Fault(
                .transient,
                "the sealed comic is not in the vault \(intent.vault), whose folder was moved or replaced in the meantime; the "
                    + "file stays, and is sealed again", code: StandingFolder.displaced)
        }
        let (effects, outcome) = try await services.files.run { () -> ([FileEffect], String) in
            switch intent.disposition {
            case .keep: return ([], "the file stays")
            case .trash:
                guard let trashed = intent.trashed else { return ([], "the file stays") }
                let placed = try trashed.put(services.placing, context)
                return (
                    [.moved(intent.source, to: placed.path, placed.fingerprint, placed.hash)],
                    "the file was put into the trash"
                )
            case .remove:
                // A different version there now is not ours to remove.
                return try remove(context)
                    ? ([.removed(intent.source)], "the file was removed") : ([], "another file with its name stays")
            }
        }
        let what =
            switch imported.state {
            case .sealed: "sealed in the vault \(intent.vault)"
            case .deposited: "sealed to the vault \(intent.vault), which is locked"
            case .duplicate: "is in the vault \(intent.vault) already"
            }
        let subject = hidesNames ? "a comic" : "\(intent.source)"
        let more: Values = [
            "comic.outcome": .text(imported.state == .duplicate ? "there already" : "imported"),
            "comic.vault": .text(intent.vault), "comic.state": .text(imported.state.rawValue),
            "comic.sealed": .text(imported.id),
        ]
        return Receipt(
            "\(subject) \(what) (\(imported.id.prefix(12))); \(outcome)", values: intent.values.merging(more) { $1 },
            effects: effects)
    }

    /// - Returns: whether the source is gone.
    private func remove(_ context: StepContext) throws -> Bool {
        let (source, purpose) = (intent.source, Self.purpose(context))
        guard
            try services.placing.finishRemoval(of: source, expecting: intent.hash, purpose: purpose, context)
        else { return false }
        try context.files.removeSource(source, expecting: intent.hash, purpose: purpose)
        return try context.files.status(source) == nil
    }

    static func text(_ receipt: Receipt, _ name: String) -> String? {
        if case .text(let text)? = receipt.values[name] { text } else { nil }
    }
}

extension ComicVault.VaultError {
    /// For a vault that was locked midway.
    fileprivate var again: Fault {
        Fault(.transient, "the vault was locked in the meantime; the import will be retried automatically")
    }
}
