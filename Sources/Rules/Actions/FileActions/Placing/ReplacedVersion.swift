import Glibc
import Platform
import Rules

/// Intent to replace a file's content, with everything needed to carry it out, even after a crash. The old version goes
/// to the trash under the file's own name, from where undo restores it. All calls block.
package struct ReplacedVersion: Codable, Sendable, Equatable {
    package let path: BytePath
    let hash: ContentHash
    /// Holds the new version until the swap, then the old one until it is in the trash.
    let aside: BytePath
    let slot: BytePath
    let mark: String

    /// - Throws: `Fault(.superseded)` if the step's file is gone.
    package init(of input: StepInput, in trash: TrashCan) throws {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        path = input.file.absolute
        self.hash = hash
        let purpose = ContentHash(of: Array("replace \(input.stepID)".utf8))
        // Derived up front, so that after a crash the file there shows how far the step got.
        aside = path.parent.appending(Durable.temporaryName(for: purpose))
        mark = String(purpose.description.prefix(8))
        slot = try trash.slot(for: path, mark: mark, input.files)
    }

    package var targets: [BytePath] { [path, aside, slot] }

    /// Puts the new version in place of the old one, if that still has the judged content.
    ///
    /// - Parameters:
    ///   - make: called with the old version and a function that takes the next part of the new one.
    ///   - verifying: called with both versions; throws if the new one is wrong.
    /// - Returns: effects for the ledger and for ``bringBack(_:_:_:)``.
    package func replace(
        _ services: FileServices, _ context: StepContext,
        _ make: @escaping (_ old: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void,
        verifying: (_ old: Descriptor, _ new: Descriptor) throws -> Void
    ) throws -> [FileEffect] {
        let files = context.files
        _ = try files.judged(path)
        let old = try files.present(path)
        guard try ContentHash.of(old) == hash else {
            throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
        }
        guard Lease.probeWriters(old) != .busy else {
            throw Fault(.transient, "\(path) is open for writing: \(files.openers(path))", path: path)
        }
        try services.trash.prepare(slot, files)
        // A leftover of an interrupted attempt. A file of anyone else is not touched.
        if try files.status(aside) != nil, try !removeCopy(services, context) {
            throw Fault(.failed, "\(aside) is in the way", path: aside)
        }
        let copy = try ExchangedFile(
            inPlaceOf: old, at: files.entry(path), aside: files.entry(aside), keepsOwner: true,
            record: services.journal.staging(context.stepID)
        ) { put in try make(old, put) }
        do {
            try verifying(old, files.file(aside))
            // Check again, because making the copy takes time.
            _ = try files.present(path)
            guard try ContentHash.of(old) == hash else {
                throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
            }
            try exchange(copy, files)
        } catch {
            // Best effort: report the original error. A leftover has one of the agent's own names.
            _ = try? removeCopy(services, context)
            throw error
        }
        guard let done = try finish(services, context) else {
            throw Fault(.superseded, "\(path) has just been saved by another program", path: path)
        }
        return done
    }

    /// Removes the file aside if it is the step's copy.
    ///
    /// - Returns: whether it was.
    private func removeCopy(_ services: FileServices, _ context: StepContext) throws -> Bool {
        guard let entry = try context.files.entryIfAny(aside),
            try services.journal.isProduct(of: context.stepID, at: entry)
        else { return false }
        try context.files.discard(aside, record: services.journal.staging(context.stepID))
        return true
    }

    private func exchange(_ copy: ExchangedFile, _ files: HeldFiles) throws {
        do {
            try copy.exchange()
        } catch let fault as Fault where [EINVAL, ENOSYS, ENOTSUP].contains(fault.errno) {
            throw Fault(
                .failed, "the file system of \(path) cannot exchange two files, so nothing is put in its place",
                path: path, errno: fault.errno)
        }
        files.closeFiles()
    }

    /// The effects if the new version has the file's name, after finishing with the old one; nil otherwise.
    package func finish(_ services: FileServices, _ context: StepContext) throws -> [FileEffect]? {
        let files = context.files
        guard let entry = try files.entryIfAny(path), let status = try entry.status(), status.kind == .file,
            try services.journal.isProduct(of: context.stepID, at: entry)
        else { return nil }
        let isAside = try files.status(aside) != nil
        if isAside, try files.hash(aside) != hash {
            // Someone saved in between: their version gets its name back, and the copy is removed.
            try files.exchange(aside, path)
            _ = try removeCopy(services, context)
            return nil
        }
        var kept: FileEffect?
        if let trashed = try files.status(slot), try files.hash(slot) == hash {
            // Interrupted while copying to another file system.
            if isAside { try files.removeSource(aside, expecting: hash) }
            kept = .created(slot, trashed.fingerprint, hash)
        } else if isAside {
            let placed = try services.trash.put(
                aside, as: path, expecting: hash, at: slot, files,
                record: services.journal.staging(context.stepID))
            kept = .created(placed.path, placed.fingerprint, hash)
        }
        let new = FileEffect.moved(path, to: path, status.fingerprint, try files.hash(path))
        return [new] + (kept.map { [$0] } ?? [])
    }

    /// Removes the new version if it is unchanged, and restores the old one from the trash.
    ///
    /// - Parameter effects: what the step did.
    package func bringBack(
        _ effects: [FileEffect], _ services: FileServices, _ context: StepContext
    ) throws -> Receipt {
        guard case .moved(_, _, _, let made)? = effects.first,
            case .created(let slot, let fingerprint, _)? = effects.last
        else { throw Fault(.failed, "the previous version of \(path) is no longer available", path: path) }
        let files = context.files
        let found = try files.status(path)
        let now = found?.kind == .file ? try files.hash(path) : nil
        let isBack = context.resumesUndo && (found == nil || now == hash)
        guard now == made || isBack else {
            throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
        }
        if now == made {
            guard try files.status(slot) != nil, try files.hash(slot) == hash else {
                throw Fault(
                    .failed, "the previous version of \(path) is no longer in the trash; nothing was changed",
                    path: path)
            }
            _ = try services.trash.put(path, expecting: made, mark: made.description.prefix(8), files)
        }
        let back = PuttingBack(services: services, context: context)
        let receipt = try back.restoreFromTrash(.moved(path, to: slot, fingerprint, hash))
        guard case .moved(_, let to, let placed, _)? = receipt.effects.first, to == path else { return receipt }
        return Receipt("brought back \(path) as it was", effects: [.moved(path, to: path, placed, hash)])
    }
}
