import Platform
import Rules

/// Intent to delete a file permanently. Its methods block.
struct DeletedFile: Codable, Sendable, Equatable {
    let content: JudgedContent
    /// Birth time, which tells the file from a later one with the same inode; nil if unknown.
    let birth: Int64?

    /// - Throws: `Fault(.failed)` if the file has other hard links.
    init(of input: StepInput) throws {
        content = try JudgedContent(of: input)
        let open = try input.files.file(content.file)
        try Self.requireOneName(open)
        birth = try open.birth()
    }

    static func requireOneName(_ open: Descriptor) throws {
        try JudgedContent.requireOneName(
            open, "it would still exist; it was not deleted. Use `trash` to remove this name")
    }

    /// Whether this file is still at `entry`.
    func isFile(at entry: DirectoryEntry) throws -> Bool {
        guard let judged = content.fingerprint, let now = try entry.status(), now.inode == judged.inode,
            now.device == judged.device
        else { return false }
        return try birth == nil || entry.birth() == birth
    }
}

/// Deletes a file permanently: only the file that was judged, and only while it is not open for writing.
struct Deletion: Primitive {
    let services: FileServices
    let file: DeletedFile

    /// Notes kept in the ledger until the receipt. `begun`: the file is about to lose its name. `going`: it was
    /// verified aside, is not in use, and is being unlinked. Only after `going` does a missing file count as deleted;
    /// before, someone may have moved it.
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
            // A file that was being written at that moment got its name back.
            guard try open.status().links == 0 else {
                guard try ContentHash.of(open) == hash else {
                    throw Fault(.superseded, "\(path) was changed just before it was deleted; it stays", path: path)
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
            .failed, "\(file.content.file) was permanently deleted, which cannot be undone", path: file.content.file)
    }

    /// The receipt if an interrupted deletion was under way; removes leftovers.
    private func finished(_ context: StepContext) throws -> Receipt? {
        let journal = services.journal
        guard let noted = try journal.noted(step: context.stepID), [Self.begun, Self.going].contains(noted) else {
            return nil
        }
        // A missing folder means that the file is gone too. A file set aside may come back if someone started writing
        // to it.
        if let entry = try context.files.entryIfAny(file.content.file),
            try file.isFile(at: entry)
                || !Mover.finishRemoval(
                    of: entry, expecting: file.content.hash,
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
