import Platform

/// A digest of a folder's own entries, not of its subfolders: if two differ, something changed.
struct FolderDigest {
    let value: Int
    let subfolders: [[UInt8]]

    /// nil if the folder is gone or unreadable. Blocks: one stat(2) per entry.
    static func of(_ path: BytePath, below root: Root, ignoring: IgnoreList) -> FolderDigest? {
        guard let folder = try? root.folder(path), let entries = try? folder.entries() else { return nil }
        var sum = 0
        var subfolders: [[UInt8]] = []
        for entry in entries where !ignoring.ignores(entry.name) {
            var hasher = Hasher()
            hasher.combine(entry.name)
            // An entry without a readable status counts by its name alone.
            if let status = (try? folder[entry.name].status()) ?? nil {
                if status.kind == .directory {
                    subfolders.append(entry.name)
                    hasher.combine(status.inode)
                    hasher.combine(status.mode)
                } else {
                    hasher.combine(status.fingerprint)
                }
            }
            // Independent of the order in which the file system lists entries.
            sum &+= hasher.finalize()
        }
        return FolderDigest(value: sum, subfolders: subfolders)
    }
}
