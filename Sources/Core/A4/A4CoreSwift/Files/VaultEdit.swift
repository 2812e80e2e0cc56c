import Platform

extension VaultFolder {
    /// Replaces the content of a note by what `change` makes of it, or makes the note. Blocks.
    ///
    /// The new content goes to `.<name>.tmp` beside the note, is synced and renamed over it, and the folder is synced
    /// (docs/design/a4.md). An exclusive lock on that temporary file makes the writers of this library wait for one
    /// another. All is done through the descriptor of the folder, which was opened below the root. If somebody else
    /// changes the note between the reading and the rename, `change` is asked again.
    ///
    /// The note's permissions are kept, and its owner where the system lets us; other hard links to it, and extended
    /// attributes, stay with the old content. A note that is a symbolic link within the vault stays one.
    ///
    /// - Parameter change: gets the present bytes, nil for a missing note; nil as its answer leaves all as it is.
    /// - Throws: `Fault`, and what `change` throws. The note is then as it was.
    package func edit(_ relative: BytePath, _ change: ([UInt8]?) throws -> [UInt8]?) throws {
        if relative.isEmpty { throw Fault(.refused, "the path is empty; name a file below \(root.path)") }
        let target = try place(of: relative)
        let folder = try makeFolder(target.parent)
        for _ in 0..<20 {
            if try RenamedFile.edit(target.name, in: folder, change) { return }
        }
        throw Fault(.transient, "\(folder.path.appending(name: target.name)) keeps changing; try again", path: target)
    }

    /// The path to write to: that of the file a link names, so that the link is not replaced.
    private func place(of relative: BytePath) throws -> BytePath {
        let folder = try makeFolder(relative.parent)
        guard try RenamedFile.status(of: BytePath(bytes: relative.name), in: folder)?.kind == .link else {
            return relative
        }
        _ = try locate(relative)
        guard let inside = resolved(relative) else {
            throw Fault(.refused, "\(relative) changed while it was looked at; nothing was written", path: relative)
        }
        return inside
    }
}
