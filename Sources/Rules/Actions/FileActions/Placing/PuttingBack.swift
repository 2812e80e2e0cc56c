import Ledger
import Platform
import Rules

/// Moves a file back to where a step took it from, or to the next free name. Shared by the undo of all moving actions.
/// A file that is already back after a crash is not moved again. Blocks.
package struct PuttingBack: Sendable {
    let services: FileServices
    let context: StepContext

    package init(services: FileServices, context: StepContext) {
        self.services = services
        self.context = context
    }

    /// - Parameters:
    ///   - effect: what the step did.
    ///   - isPast: whether another file has the moved file's name by now; that one stays.
    package func move(_ effect: FileEffect?, isPast: Bool = false) throws -> Receipt {
        try carryOut(effect, isPast: isPast, missing: "is gone or has been changed since; nothing was moved back") {
            "moved back to \($0.path)\($0.losses)"
        } ?? Receipt("nothing had been moved")
    }

    /// As ``move(_:)``, for a file in the trash.
    package func restoreFromTrash(_ effect: FileEffect?) throws -> Receipt {
        let receipt = try carryOut(effect, missing: "is no longer in the trash, or has been changed there") {
            "took \($0.path) out of the trash\($0.losses)"
        }
        guard let receipt, let slot = receipt.effects.first?.origin else { return Receipt("nothing was in the trash") }
        do {
            try services.trash.forget(slot, context.files)
        } catch let fault as Fault where fault.kind == .failed {
            // The file is back, which is what matters.
            return Receipt("\(receipt.summary) (\(fault.message))", values: receipt.values, effects: receipt.effects)
        }
        return receipt
    }

    /// - Throws: `Fault(.failed)` if the file was moved on or changed.
    private func carryOut(
        _ effect: FileEffect?, isPast: Bool = false, missing: String,
        _ summary: @escaping @Sendable (Mover.Placed) -> String
    ) throws -> Receipt? {
        if case .movedFolder(let from, let to, let fingerprint, let contents)? = effect {
            return try carryOut(
                FolderMove(source: to, fingerprint: fingerprint, contents: contents), to: from, missing, summary)
        }
        guard case .moved(let former, let to, let fingerprint, let hash)? = effect else { return nil }
        // If its old name is hidden and no longer known, it keeps its current one.
        let from = HiddenNames.isToken(former) ? former.parent.appending(name: to.name) : former
        let placing = Placing(
            services: services,
            destination: Destination(target: from, exists: .rename, replaces: nil, skips: false), content: hash,
            moving: Placing.Source(path: to, fingerprint: fingerprint, isPast: isPast),
            make: { way, files in
                try files.move(
                    to, expecting: hash, to: way.names, .unchanged, purpose: way.purpose, record: way.record)
            }
        ) { placed in
            Receipt(summary(placed), effects: [.moved(to, to: placed.path, placed.fingerprint, placed.hash)])
        } skipped: {
            Receipt("nothing had been moved")
        }
        if let done = try placing.finished(context) { return done }
        guard let status = try context.files.status(to), status.kind == .file, try context.files.hash(to) == hash
        else {
            throw Fault(.failed, "\(to) \(missing)", path: to)
        }
        return try placing.carryOut(context)
    }

    private func carryOut(
        _ move: FolderMove, to former: BytePath, _ missing: String,
        _ summary: @escaping @Sendable (Mover.Placed) -> String
    ) throws -> Receipt {
        let placement = FilePlacement(
            source: move.source, fingerprint: move.fingerprint, hash: move.contents,
            destination: Destination(target: former, exists: .rename, replaces: nil, skips: false), isFolder: true)
        let placing = placement.moving(services) { placed in
            Receipt(summary(placed), effects: [placement.effect(placed)])
        } skipped: {
            Receipt("nothing had been moved")
        }
        if let done = try placing.finished(context) { return done }
        do {
            _ = try move.found(context.files)
        } catch let fault as Fault where fault.kind == .superseded {
            throw Fault(.failed, "\(move.source) \(missing)", path: move.source)
        }
        return try placing.carryOut(context)
    }
}
