import Platform

/// What one folder looks like, its own entries and not those below: two that differ mean that something changed.
struct FolderDigest {
    let value: Int
    let subfolders: [[UInt8]]

    /// Nil if the folder is gone or may not be read. Blocks: one stat(2) an entry.
    static func of(_ path: BytePath, below root: Root, ignoring: IgnoreList) -> FolderDigest? {
        guard let folder = try? root.folder(path), let entries = try? folder.entries() else { return nil }
        var sum = 0
        var subfolders: [[UInt8]] = []
        for entry in entries where !ignoring.ignores(entry.name) {
            var hasher = Hasher()
            hasher.combine(entry.name)
            // An entry that cannot be looked at counts by its name alone.
            if let status = (try? folder[entry.name].status()) ?? nil {
                if status.kind == .directory {
                    subfolders.append(entry.name)
                    hasher.combine(status.inode)
                    hasher.combine(status.mode)
                } else {
                    hasher.combine(status.fingerprint)
                }
            }
            // The order of the entries is the file system's business.
            sum &+= hasher.finalize()
        }
        return FolderDigest(value: sum, subfolders: subfolders)
    }
}
