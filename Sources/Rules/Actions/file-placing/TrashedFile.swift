import Platform
import Rules

/// A file that goes into the trash, decided: everything that carrying it out needs, also after a crash. Blocks.
package struct TrashedFile: Codable, Sendable, Equatable {
    package let source: BytePath
    let fingerprint: Fingerprint?
    package let hash: ContentHash
    package let slot: BytePath
    let mark: String

    /// - Throws: `Fault(.superseded)` where the step's file is gone.
    package init(of input: StepInput, in trash: TrashCan) throws {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        source = input.file.absolute
        fingerprint = input.file.fingerprint
        self.hash = hash
        mark = String(ContentHash(of: Array(input.stepID.utf8)).description.prefix(8))
        slot = try trash.slot(for: source, mark: mark, input.files)
    }

    /// Puts it there; where that was done before, says so again.
    ///
    /// - Parameter record: called with the temporary file where it has to be copied.
    package func put(
        in trash: TrashCan, _ files: HeldFiles, record: Mover.Record = { _, _ in }
    ) throws -> Mover.Placed {
        try found(files) ?? trash.put(source, expecting: hash, at: slot, files, record: record)
    }

    /// The file in the trash, if it is there; what a crash has left of the source is removed.
    package func found(_ files: HeldFiles) throws -> Mover.Placed? {
        guard let status = try files.status(slot), try files.hash(slot) == hash else { return nil }
        if let left = try files.status(source), left.fingerprint == fingerprint {
            try files.removeSource(source, expecting: hash)
        }
        return Mover.Placed(path: slot, fingerprint: status.fingerprint, hash: hash)
    }
}
