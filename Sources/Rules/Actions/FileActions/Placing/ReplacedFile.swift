import Ledger
import Platform
import Rules

/// A file that a step with `exists: replace` moved to the trash to make room. It is noted before it goes, so that the
/// receipt names it even after a crash. Undo restores it. All calls block.
struct ReplacedFile: Codable, Sendable {
    let path: BytePath
    let slot: BytePath
    let hash: ContentHash

    /// Moves the file to the trash if it is still the one that was seen.
    static func replace(
        _ path: BytePath, expecting hash: ContentHash, _ services: FileServices, _ context: StepContext
    ) throws {
        let (files, trash) = (context.files, services.trash)
        guard try Destination.reading(path, { try files.hash(path) }) == hash else { throw Fault.nameTaken(path) }
        // An earlier decision of this step trashed another file, and someone took the name before the step did.
        if let old = try noted(services, context), try old.inTrash(files) != nil {
            try tell("what was at \(old.path) before is in the trash as \(old.slot)", services, context)
        }
        // A mark of this step's own, because another step may be trashing the same file.
        let mark = ContentHash(of: Array(context.stepID.utf8)).description.prefix(8)
        let slot = try trash.slot(for: path, mark: mark, files)
        let free = try Mover.alternatives(slot).prefix(100).first { try files.status($0) == nil } ?? slot
        try ReplacedFile(path: path, slot: free, hash: hash).note(services, context)
        let placed = try Destination.reading(path) {
            try trash.put(
                path, expecting: hash, at: free, purpose: purpose(context), files,
                record: services.journal.staging(context.stepID))
        }
        if placed.path != free { try ReplacedFile(path: path, slot: placed.path, hash: hash).note(services, context) }
    }

    private static func purpose(_ context: StepContext) -> String { "replace \(context.stepID)" }

    private func note(_ services: FileServices, _ context: StepContext) throws {
        try services.journal.note(
            LedgerJSON.encode(self, hiding: services.journal.ledger.names), step: context.stepID)
    }

    private static func noted(_ services: FileServices, _ context: StepContext) throws -> ReplacedFile? {
        let journal = services.journal
        return try journal.noted(step: context.stepID).map {
            try LedgerJSON.decode(ReplacedFile.self, from: $0, showing: journal.ledger.names)
        }
    }

    /// Its status in the trash; nil if it is gone or another.
    private func inTrash(_ files: HeldFiles) throws -> FileStatus? {
        guard let status = try files.status(slot), status.kind == .file, try files.hash(slot) == hash else {
            return nil
        }
        return status
    }

    /// The receipt with the replaced file, if one is in the trash.
    static func adding(to receipt: Receipt, _ services: FileServices, _ context: StepContext) throws -> Receipt {
        guard let old = try noted(services, context), let status = try old.inTrash(context.files) else {
            return receipt
        }
        var receipt = receipt
        receipt.summary += "; the previous file is in the trash"
        receipt.effects.append(.created(old.slot, status.fingerprint, old.hash))
        return receipt
    }

    /// Adds a message on a file's location to the history of the step's job.
    fileprivate static func tell(_ text: String, _ services: FileServices, _ context: StepContext) throws {
        let journal = services.journal
        let names = journal.ledger.names
        try journal.ledger.writeBlocking { transaction in
            let job = try transaction.job(context.jobID)
            var text = text
            if let job, let place = journal.places[name: job.place] {
                text = names.redacted(text, job.place, root: place.root, job.path)
            }
            try transaction.note("replaced", text, job: context.jobID, place: job?.place, path: job?.path)
        }
    }

    // MARK: Restoring after a failed step

    /// Restores the file from the trash if its name is free.
    ///
    /// - Returns: a message with its location and the reason if it stays in the trash; nil if nothing is missing.
    /// - Throws: `Fault(.transient)` if a retry may succeed.
    static func takeBack(_ services: FileServices, _ context: StepContext) throws -> String? {
        guard let old = try noted(services, context) else { return nil }
        let why: String
        do {
            guard let reason = try old.takeBack(services, context) else { return nil }
            why = reason
        } catch let fault as Fault where fault.kind != .transient {
            why = fault.message
        }
        return "what was at \(old.path) before is in the trash as \(old.slot): \(why)"
    }

    /// - Returns: the reason if it stays in the trash; nil if nothing is missing.
    private func takeBack(_ services: FileServices, _ context: StepContext) throws -> String? {
        let (files, journal) = (context.files, services.journal)
        guard try inTrash(files) != nil else {
            // It never went, or is already back.
            try journal.forgetNote(step: context.stepID)
            return nil
        }
        // Finish removing the original if it was copied to the trash.
        try services.finishRemoval(of: path, expecting: hash, purpose: Self.purpose(context), context)
        if HiddenNames.isToken(path) { return "its name is hidden, and no longer known" }
        if let status = try files.status(path) {
            let isSame = try status.kind == .file && files.hash(path) == hash
            return isSame ? nil : "another file has taken its name"
        }
        // A restored copy is not a product of the step.
        let owner = "\(context.stepID) back"
        _ = try files.move(slot, expecting: hash, to: [path], .unchanged, record: journal.staging(owner))
        // The file is back; a stale trash entry does no harm.
        try? services.trash.forget(slot, files)
        try journal.ledger.writeBlocking { try $0.clearStaged(job: owner) }
        try journal.forgetNote(step: context.stepID)
        return nil
    }
}

extension Destination {
    /// Runs an operation that may clear its destination. On failure, the file that it trashed is restored before this
    /// throws, or the fault says where it is. Blocks.
    package func clearing<Product>(
        _ services: FileServices, _ context: StepContext, _ make: () throws -> Product
    ) throws -> Product {
        do {
            return try make()
        } catch {
            guard exists == .replace else {
                guard let fault = error as? Fault else { throw error }
                throw taken(fault)
            }
            let rest: String?
            do {
                rest = try ReplacedFile.takeBack(services, context)
            } catch let other {
                rest = "what was at \(target) before may be in the trash: \(explain(other))"
            }
            let fault = taken(error as? Fault ?? Fault(.failed, explain(error)))
            guard let rest else { throw fault }
            throw Fault(
                fault.kind, "\(fault.message); \(rest)", path: fault.path, errno: fault.errno, code: fault.code)
        }
    }

    /// The outcome of recovery. If the step made nothing, the file that it trashed is restored, or the job's history
    /// says where it is. Blocks.
    package func recovered(
        _ receipt: Receipt?, _ services: FileServices, _ context: StepContext
    ) throws -> Recovery {
        if let receipt { return .done(receipt) }
        guard exists == .replace, let rest = try ReplacedFile.takeBack(services, context) else { return .notDone }
        try ReplacedFile.tell(rest, services, context)
        return .notDone
    }
}

extension Receipt {
    /// The trashing of the replaced file, as a move; nil if nothing was replaced.
    package var replaced: FileEffect? {
        guard effects.count > 1, case .created(let slot, let fingerprint, let hash)? = effects.last else { return nil }
        switch effects.first {
        case .created(let path, _, _), .moved(_, let path, _, _), .touched(let path, _, _):
            return .moved(path, to: slot, fingerprint, hash)
        default: return nil
        }
    }
}

extension PuttingBack {
    /// Restores a replaced file from the trash now that its name is free. If that fails, the undo still counts, and the
    /// summary says so.
    ///
    /// - Parameters:
    ///   - receipt: the step's.
    ///   - done: what was undone so far.
    package func bringBackReplaced(_ receipt: Receipt, after done: Receipt) throws -> Receipt {
        guard let replaced = receipt.replaced else { return done }
        do {
            let back = try restoreFromTrash(replaced)
            return Receipt("\(done.summary), \(back.summary)", effects: done.effects + back.effects)
        } catch let fault as Fault where fault.kind == .failed {
            return Receipt(
                "\(done.summary); the previous file is not restored: \(fault.message)", effects: done.effects)
        }
    }
}
