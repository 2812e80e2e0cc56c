import Platform

/// What one folder looks like, its own entries and not those below: two that differ mean that something changed.
struct FolderDigest {
    let value: Int
    let subfolders: [[UInt8]]

    /// Nil if the folder is gone or may not be read. Blocks: one stat(2) an entry.
    static func of(_ folder: BytePath, ignoring: IgnoreList) -> FolderDigest? {
        guard let entries = try? listDirectory(folder) else { return nil }
        var sum = 0
        var subfolders: [[UInt8]] = []
        for entry in entries where !ignoring.ignores(entry.name) {
            var hasher = Hasher()
            hasher.combine(entry.name)
            // An entry that cannot be looked at counts by its name alone.
            if let status = try? FileStatus.of(folder.appending(name: entry.name)) {
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
