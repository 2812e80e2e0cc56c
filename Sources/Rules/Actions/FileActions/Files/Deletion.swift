import Platform
import Rules

/// A file that is deleted for good, decided. Blocks.
struct DeletedFile: Codable, Sendable, Equatable {
    let content: JudgedContent
    /// When the file was made, by which it is told from one that got its inode after it; nil where nobody knows.
    let birth: Int64?

    /// - Throws: `Fault(.failed)` where it has other names.
    init(of input: StepInput) throws {
        content = try JudgedContent(of: input)
        let open = try input.files.file(content.file)
        try Self.requireOneName(open)
        birth = try open.birth()
    }

    static func requireOneName(_ open: Descriptor) throws {
        try JudgedContent.requireOneName(
            open, "it would be there all the same; it was not deleted. Use `trash` to take this name away")
    }

    /// Whether it is the file of that name.
    func isFile(at spot: DirectoryEntry) throws -> Bool {
        guard let judged = content.fingerprint, let now = try spot.status(), now.inode == judged.inode,
            now.device == judged.device
        else { return false }
        return try birth == nil || spot.birth() == birth
    }
}

/// How a file is deleted for good: only the very one that was judged, and only while nobody writes it.
struct Deletion: Primitive {
    let services: FileServices
    let file: DeletedFile

    /// What is noted of the step until the receipt: that the file is about to be taken from its name, and that it has
    /// been found to be the one, aside and unused, and goes. Only then what is nowhere any more has been deleted; before,
    /// somebody may have moved it on.
    private static let begun = "deleting"
    private static let going = "gone"

    var targets: [BytePath] { [file.content.file] }

    func perform(_ context: StepContext) async throws -> Receipt {
        let files = context.files
        return try await services.files.run {
            if let done = try finished(context) { return done }
            let (path, hash) = (file.content.file, file.content.hash)
            _ = try files.judged(path)
            let open = try files.present(path)
            try DeletedFile.requireOneName(open)
            guard try ContentHash.of(open) == hash else {
                throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
            }
            try services.journal.note(Self.begun, step: context.stepID)
            try files.removeSource(path, expecting: hash) {
                try services.journal.note(Self.going, step: context.stepID)
            }
            // What was being written at that moment has gone back to its name.
            guard try open.status().links == 0 else {
                guard try ContentHash.of(open) == hash else {
                    throw Fault(.superseded, "\(path) was changed just when it was to be deleted; it stays", path: path)
                }
                throw Fault(.transient, "\(path) is open for writing, so it was not deleted", path: path)
            }
            return receipt
        }
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        try await services.files.run { try finished(context).map { .done($0) } ?? .notDone }
    }

    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        throw Fault(
            .failed, "\(file.content.file) was deleted for good, which cannot be undone", path: file.content.file)
    }

    /// The receipt, where the file was on its way out when the step was cut off; what was left of it is removed.
    private func finished(_ context: StepContext) throws -> Receipt? {
        let journal = services.journal
        guard let noted = try journal.noted(step: context.stepID), [Self.begun, Self.going].contains(noted) else {
            return nil
        }
        // Without its folder it is gone as well. From aside it may come back, because somebody had begun to write it.
        if let spot = try context.files.spotIfAny(file.content.file),
            try file.isFile(at: spot)
                || !Mover.finishRemoval(
                    of: spot, expecting: file.content.hash,
                    going: { try journal.note(Self.going, step: context.stepID) })
        {
            if noted == Self.going { try journal.note(Self.begun, step: context.stepID) }
            return nil
        }
        return try journal.noted(step: context.stepID) == Self.going ? receipt : nil
    }

    private var receipt: Receipt {
        Receipt("deleted \(file.content.file) for good", effects: [.removed(file.content.file)])
    }
}
