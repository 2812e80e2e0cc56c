import Platform

/// Trashes whole folders by one rename only; a copy would leave the folder in two places for a while.
extension TrashCan {
    /// Moves a folder to the trash. Blocks.
    ///
    /// - Parameter mark: tells it from others of its name; deterministic.
    /// - Returns: its path in the trash.
    /// - Throws: `Fault(.failed)` if its file system has no trash of this user.
    @discardableResult
    package func putFolder(_ path: BytePath, mark: some StringProtocol, _ files: HeldFiles) throws -> BytePath {
        try putFolder(path, mark: mark, files) { try files.renameNew(path, to: $0) ? $0 : nil }
    }

    /// Likewise, if the folder is still the one that was judged.
    func putFolder(_ folder: FolderMove, mark: some StringProtocol, _ files: HeldFiles) throws -> Mover.Placed {
        try putFolder(folder.source, mark: mark, files) { try folder.carryOut(to: [$0], files) }
    }

    private func putFolder<R>(
        _ path: BytePath, mark: some StringProtocol, _ files: HeldFiles, rename: (BytePath) throws -> R?
    ) throws -> R {
        guard try !mustCopy(from: files.entry(path).folder) else {
            throw Fault(
                .failed,
                "the file system of \(path) has no trash, and a folder is not copied into another; remove it by hand",
                path: path)
        }
        let slot = try slot(for: path, mark: mark, files)
        try prepare(slot, files)
        for free in Mover.alternatives(slot).prefix(100) where try files.status(free) == nil {
            try note(path, at: free, files)
            do {
                if let placed = try rename(free) { return placed }
            } catch {
                if try files.status(free) == nil { try forget(free, files) }
                throw error
            }
            try forget(free, files)
        }
        throw Fault(
            .failed, "the trash \(slot.parent.parent) holds too many folders of the name \(slot.nameText)", path: path)
    }
}
