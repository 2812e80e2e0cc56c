import Platform
import Rules

/// Intent to move a file to the trash, with everything needed to carry it out, even after a crash. Blocks.
package struct TrashedFile: Codable, Sendable, Equatable {
    package let source: BytePath
    let fingerprint: Fingerprint?
    package let hash: ContentHash
    package let slot: BytePath
    let mark: String
    /// Whether it is a folder; nil in intents of older versions.
    let isFolder: Bool?

    /// - Throws: `Fault(.superseded)` if the step's file is gone.
    package init(of input: StepInput, in trash: TrashCan) throws {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        source = input.file.absolute
        fingerprint = input.file.fingerprint
        self.hash = hash
        isFolder = input.file.isFolder ? true : nil
        mark = String(ContentHash(of: Array(input.stepID.utf8)).description.prefix(8))
        slot = try trash.slot(for: source, mark: mark, input.files)
    }

    /// Moves it to the trash; idempotent.
    package func put(_ services: FileServices, _ context: StepContext) throws -> Mover.Placed {
        if let done = try found(services, context) { return done }
        if isFolder == true { return try services.trash.putFolder(folder, mark: mark, context.files) }
        return try services.trash.put(
            source, expecting: hash, at: slot, purpose: purpose, context.files,
            record: services.journal.staging(context.stepID))
    }

    /// The file in the trash, if it is there; removes a leftover source after a crash.
    package func found(_ services: FileServices, _ context: StepContext) throws -> Mover.Placed? {
        let files = context.files
        if isFolder == true { return try foundFolder(files) }
        guard let status = try files.status(slot), try files.hash(slot) == hash else { return nil }
        if try files.status(source)?.fingerprint == fingerprint {
            try files.removeSource(source, expecting: hash, purpose: purpose)
        }
        // The source may be aside already; a file with its name now is another.
        try services.finishRemoval(of: source, expecting: hash, purpose: purpose, context)
        return Mover.Placed(path: slot, fingerprint: status.fingerprint, hash: hash)
    }

    /// Labels the removal after a copy, so that it can be finished even if the name is unknown.
    private var purpose: String { "trash \(mark)" }

    private var folder: FolderMove { FolderMove(source: source, fingerprint: fingerprint, contents: hash) }

    /// The same folder, under one of its possible names in the trash.
    private func foundFolder(_ files: HeldFiles) throws -> Mover.Placed? {
        for candidate in Mover.alternatives(slot).prefix(100) {
            guard let status = try files.status(candidate) else { return nil }
            guard status.inode == fingerprint?.inode, status.device == fingerprint?.device else { continue }
            return Mover.Placed(path: candidate, fingerprint: status.fingerprint, hash: hash)
        }
        return nil
    }

    /// The effect of trashing it.
    package func effect(_ placed: Mover.Placed) -> FileEffect {
        isFolder == true
            ? .movedFolder(source, to: placed.path, placed.fingerprint, placed.hash)
            : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
    }
}
