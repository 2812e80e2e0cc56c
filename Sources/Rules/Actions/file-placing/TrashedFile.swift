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
    ///
    /// - Parameter record: called with the temporary file where it has to be copied.
    package func put(
        in trash: TrashCan, _ files: HeldFiles, record: Mover.Record = { _, _ in }
    ) throws -> Mover.Placed {
        if let done = try found(files) { return done }
        if isFolder == true { return try trash.putFolder(folder, mark: mark, files) }
        return try trash.put(source, expecting: hash, at: slot, files, record: record)
    }

    /// The file in the trash, if it is there; what a crash has left of the source is removed.
    package func found(_ files: HeldFiles) throws -> Mover.Placed? {
        if isFolder == true { return try foundFolder(files) }
        guard let status = try files.status(slot), try files.hash(slot) == hash else { return nil }
        if let left = try files.spotIfAny(source) {
            if try left.status()?.fingerprint == fingerprint {
                try files.removeSource(source, expecting: hash)
            } else {
                // Out of sight already, or another file by now.
                _ = try Mover.finishRemoval(of: left, expecting: hash)
            }
        }
        return Mover.Placed(path: slot, fingerprint: status.fingerprint, hash: hash)
    }

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
