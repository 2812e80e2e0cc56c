import Platform
import Rules

/// A file that goes into the trash, decided: everything that carrying it out needs, also after a crash. Blocks.
package struct TrashedFile: Codable, Sendable, Equatable {
    package let source: BytePath
    let fingerprint: Fingerprint?
    package let hash: ContentHash
    package let slot: BytePath
    let mark: String
    /// Whether it is a folder; nil in intents of old.
    let isFolder: Bool?

    /// - Throws: `Fault(.superseded)` where the step's file is gone.
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

    /// Puts it there; where that was done before, says so again.
    package func put(_ services: FileServices, _ context: StepContext) throws -> Mover.Placed {
        if let done = try found(services, context) { return done }
        if isFolder == true { return try services.trash.putFolder(folder, mark: mark, context.files) }
        return try services.trash.put(
            source, expecting: hash, at: slot, purpose: purpose, context.files,
            record: services.journal.staging(context.stepID))
    }

    /// The file in the trash, if it is there; what a crash has left of the source is removed.
    package func found(_ services: FileServices, _ context: StepContext) throws -> Mover.Placed? {
        let files = context.files
        if isFolder == true { return try foundFolder(files) }
        guard let status = try files.status(slot), try files.hash(slot) == hash else { return nil }
        if try files.status(source)?.fingerprint == fingerprint {
            try files.removeSource(source, expecting: hash, purpose: purpose)
        }
        // Out of sight already; what has its name by now is another.
        try services.finishRemoval(of: source, expecting: hash, purpose: purpose, context)
        return Mover.Placed(path: slot, fingerprint: status.fingerprint, hash: hash)
    }

    /// Names its removal, where it is copied, for whoever finishes that without knowing its name.
    private var purpose: String { "trash \(mark)" }

    private var folder: FolderMove { FolderMove(source: source, fingerprint: fingerprint, contents: hash) }

    /// The very folder, under one of the names that it may have got there.
    private func foundFolder(_ files: HeldFiles) throws -> Mover.Placed? {
        for candidate in Mover.alternatives(slot).prefix(100) {
            guard let status = try files.status(candidate) else { return nil }
            guard status.inode == fingerprint?.inode, status.device == fingerprint?.device else { continue }
            return Mover.Placed(path: candidate, fingerprint: status.fingerprint, hash: hash)
        }
        return nil
    }

    /// That it has been put there.
    package func effect(_ placed: Mover.Placed) -> FileEffect {
        isFolder == true
            ? .movedFolder(source, to: placed.path, placed.fingerprint, placed.hash)
            : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
    }
}
