import Platform

/// Moves a folder with its content by one rename that replaces nothing, so that it is never in two places or in none
/// (docs/design/folders.md). All calls block.
package struct FolderMove {
    let source: BytePath
    /// Identifies the folder; its times are ignored.
    let fingerprint: Fingerprint?
    /// Digest of the judged content.
    let contents: ContentHash

    package init(source: BytePath, fingerprint: Fingerprint?, contents: ContentHash) {
        (self.source, self.fingerprint, self.contents) = (source, fingerprint, contents)
    }

    /// - Throws: `Fault(.superseded)` if the folder or its content is not what was judged; `Fault(.failed)` if the
    ///   target is on another file system.
    func carryOut(to targets: some Sequence<BytePath>, _ files: HeldFiles) throws -> Mover.Placed {
        let (entry, folder) = try found(files)
        let status = try folder.status()
        for target in targets {
            let new = try files.entry(target)
            guard try new.folder.status().device == status.device else {
                throw Fault(
                    .failed,
                    "\(source) and \(target.parent) are on different file systems, and a folder is moved by one rename or not "
                        + "at all; move it by hand, or leave it", path: source)
            }
            guard try Durable.renameNew(entry, to: new) else { continue }
            let found = try compare(new, entry, status)
            return Mover.Placed(path: target, fingerprint: found.fingerprint, hash: contents)
        }
        throw Fault.noFreeName(for: source.description, path: source)
    }

    /// The folder, held open, if it and its content are what was judged.
    package func found(_ files: HeldFiles) throws -> (DirectoryEntry, Folder) {
        guard let entry = try files.entryIfAny(source), let folder = try entry.openFolder() else {
            throw Fault(.superseded, "\(source) is gone", path: source)
        }
        let status = try folder.status()
        guard status.inode == fingerprint?.inode, status.device == fingerprint?.device else {
            throw Fault(.superseded, "\(source) was replaced by another folder", path: source)
        }
        guard try FolderContents(folder).digest == contents else {
            throw Fault(.superseded, "the contents of \(source) have changed since they were examined", path: source)
        }
        return (entry, folder)
    }

    /// Another folder may have appeared between the check and the rename; it is renamed back.
    private func compare(_ new: DirectoryEntry, _ old: DirectoryEntry, _ expected: FileStatus) throws -> FileStatus {
        if let found = try new.status(), found.isSameFile(as: expected) { return found }
        guard try Durable.renameNew(new, to: old) else {
            throw Fault(
                .failed,
                "another folder had taken \(source); it is at \(new.path) now, because its name is taken again",
                path: source)
        }
        throw Fault(.superseded, "\(source) was replaced by another folder", path: source)
    }
}
