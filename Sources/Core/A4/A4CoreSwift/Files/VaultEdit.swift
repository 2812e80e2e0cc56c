import Platform

extension VaultFolder {
    /// Replaces the content of a note with the result of `change`, or creates the note. Blocks.
    ///
    /// The new content is written to `.<name>.tmp` beside the note, synced and renamed over it, and the folder is
    /// synced (docs/design/a4.md). Writers of this library wait for one another on an exclusive lock on that temporary
    /// file. Everything goes through the descriptor of the folder, which was opened below the root. If another program
    /// changes the note between the read and the rename, `change` is called again.
    ///
    /// The note's permissions are preserved, and its owner if the system permits; other hard links to it, and extended
    /// attributes, stay with the old content. A note that is a symlink within the vault stays one.
    ///
    /// - Parameter change: receives the current bytes, nil for a missing note; returning nil changes nothing.
    /// - Throws: `Fault`, and any error from `change`. The note is unchanged then.
    package func edit(_ relative: BytePath, _ change: ([UInt8]?) throws -> [UInt8]?) throws {
        if relative.isEmpty { throw Fault(.refused, "the path is empty; name a file below \(root.path)") }
        let target = try place(of: relative)
        let folder = try makeFolder(target.parent)
        for _ in 0..<20 {
            if try RenamedFile.edit(target.name, in: folder, change) { return }
        }
        throw Fault(.transient, "\(folder.path.appending(name: target.name)) keeps changing; try again", path: target)
    }

    /// The path to write to: a link's target, so that the link is not replaced.
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
