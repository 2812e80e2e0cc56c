import Glibc
import Platform
import Rules

/// Makes a folder from a file, exactly once: fills it under one of the agent's own names, then renames it to its
/// destination when it is complete. Undo moves it to the trash if it is unchanged.
package struct MadeFolder: Primitive {
    private let placement: FilePlacement
    private let services: FileServices
    private let pool: BlockingPool
    /// The action's name, which keeps its staging folders distinct.
    private let purpose: String
    private let skipped: @Sendable (BytePath) -> Receipt
    private let receipt: @Sendable (_ folder: BytePath, _ files: Int) -> Receipt
    /// Message if there is nothing to undo.
    private let nothing: String
    private let fill: @Sendable (_ staging: DirectoryEntry, _ source: Descriptor) throws -> DirectoryEntry

    /// - Parameters:
    ///   - pool: the pool that fills the folder.
    ///   - purpose: the action's name, part of the staging folder's name.
    ///   - skipped: receipt if the destination makes this a no-op, given the existing path.
    ///   - receipt: what was done, without effects.
    ///   - nothing: message if there is nothing to undo.
    ///   - fill: called with a free name and the judged file. Makes and fills the folder, and returns the folder to
    ///     place: that one or one inside it. Blocks.
    package init(
        _ placement: FilePlacement, _ services: FileServices, on pool: BlockingPool, by purpose: String,
        skipped: @escaping @Sendable (BytePath) -> Receipt,
        receipt: @escaping @Sendable (_ folder: BytePath, _ files: Int) -> Receipt, nothing: String,
        fill: @escaping @Sendable (_ staging: DirectoryEntry, _ source: Descriptor) throws -> DirectoryEntry
    ) {
        (self.placement, self.services, self.pool, self.purpose) = (placement, services, pool, purpose)
        (self.skipped, self.receipt, self.nothing, self.fill) = (skipped, receipt, nothing, fill)
    }

    package var targets: [BytePath] { [placement.destination.target] }

    package func perform(_ context: StepContext) async throws -> Receipt {
        if placement.destination.skips { return skipped(placement.destination.target) }
        return try await pool.run { try make(context) }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        if placement.destination.skips { return .done(skipped(placement.destination.target)) }
        return try await pool.run {
            try services.journal.presence.require(placement.destination.target)
            return try finished(context).map { .done($0) } ?? .notDone
        }
    }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let parent = placement.destination.target.parent
        guard case .created(let first, _, _)? = receipt.effects.first,
            let name = first.relative(to: parent)?.components.first
        else { return Receipt(nothing) }
        let path = parent.appending(name: name)
        return try await pool.run {
            let entry = try context.files.entryIfAny(path)
            if context.resumesUndo, try entry?.status() == nil { return Self.trashed(path, receipt) }
            guard let folder = try entry?.openFolder(), try Self.isUnchanged(folder, receipt, path) else {
                throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
            }
            try services.trash.putFolder(path, mark: placement.hash.description.prefix(8), context.files)
            return Self.trashed(path, receipt)
        }
    }

    // MARK: Making the folder

    private func make(_ context: StepContext) throws -> Receipt {
        let (target, files) = (placement.destination.target, context.files)
        try services.journal.makeFolders(for: target, files)
        if let done = try finished(context) { return done }
        let source = try placement.opened(files)
        let staging = try staging(context)
        // Leftover of an interrupted attempt; the name belongs to this step alone.
        try FolderTree.remove(staging)
        do {
            return try place(fill(staging, source), staging, context)
        } catch {
            // Best effort: report the original error. A leftover has one of the agent's own names.
            try? FolderTree.remove(staging)
            throw error
        }
    }

    private func place(_ product: DirectoryEntry, _ staging: DirectoryEntry, _ context: StepContext) throws -> Receipt {
        let folder = try product.open(O_RDONLY | O_DIRECTORY)
        // Recorded under another name: a recorded file with the staging name would be taken for a leftover and removed.
        let name = staging.path.appending("product")
        try services.journal.recordStaged(name, folder.identity(), step: context.stepID)
        do {
            for path in placement.destination.candidates {
                guard try Durable.renameNew(product, to: context.files.entry(path)) else { continue }
                try FolderTree.remove(staging)
                return try made(path, Folder(folder))
            }
        } catch {
            // A folder that was renamed but could not be synced still belongs to the step.
            if (try? product.status()) != nil { try? forget(staging, name, context) }
            throw error
        }
        try forget(staging, name, context)
        throw placement.destination.taken(
            .noFreeName(for: placement.destination.target.description, path: placement.source))
    }

    /// Removes a product that got no name, then its record.
    private func forget(_ staging: DirectoryEntry, _ name: BytePath, _ context: StepContext) throws {
        try FolderTree.remove(staging)
        try services.journal.recordStaged(name, nil, step: context.stepID)
    }

    /// The receipt if this step's folder exists.
    private func finished(_ context: StepContext) throws -> Receipt? {
        let found = try placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .directory,
            let folder = try context.files.entry(path).openFolder()
        else { return nil }
        // The staging folder may remain if the agent was stopped at that point.
        try FolderTree.remove(staging(context))
        return try made(path, folder)
    }

    /// The staging folder, beside the destination; deterministic per step.
    private func staging(_ context: StepContext) throws -> DirectoryEntry {
        let name = Durable.temporaryName(for: ContentHash(of: Array("\(purpose) \(context.stepID)".utf8)))
        return try context.files.entry(placement.destination.target.parent.appending(name))
    }

    private func made(_ path: BytePath, _ folder: Folder) throws -> Receipt {
        let files = try FolderTree.files(folder)
        var receipt = receipt(path, files.count)
        receipt.effects = files.map { .created(path.appending($0.path), $0.fingerprint, $0.hash) }
        return receipt
    }

    // MARK: Undo

    private static func isUnchanged(_ folder: Folder, _ receipt: Receipt, _ path: BytePath) throws -> Bool {
        let made = receipt.effects.compactMap { effect -> FolderTree.File? in
            guard case .created(let file, let fingerprint, let hash) = effect, let below = file.relative(to: path)
            else {
                return nil
            }
            return FolderTree.File(path: below, fingerprint: fingerprint, hash: hash)
        }
        let now = try FolderTree.files(folder)
        return now.map(\.path) == made.map(\.path) && now.map(\.hash) == made.map(\.hash)
    }

    private static func trashed(_ path: BytePath, _ receipt: Receipt) -> Receipt {
        let files = receipt.effects.compactMap { effect -> FileEffect? in
            if case .created(let file, _, _) = effect { .removed(file) } else { nil }
        }
        return Receipt("put \(path) into the trash", effects: files)
    }
}
