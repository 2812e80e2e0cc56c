import Platform

/// Paths that the kernel reports as moved into a place from outside. Such a file counts as arrived, even while a name
/// that it had in the place before is still waiting to be judged as gone; otherwise its inode would make it a rename.
///
/// Holds no more files than are settling. A folder stays until it has been scanned; then its files are noted.
struct MovedInNames {
    /// False for files renamed, within the place, into a folder that came from outside.
    private var files: [Pipeline.Key: Bool] = [:]
    /// Each has a unique number, so that a scan ends only the entries that existed when it began.
    private var folders: [Pipeline.Key: Int] = [:]
    private var last = 0

    mutating func add(_ key: Pipeline.Key, isFolder: Bool) {
        if isFolder {
            last += 1
            folders[key] = last
        } else {
            files[key] = true
        }
    }

    func contains(_ key: Pipeline.Key) -> Bool { files[key] ?? isInFolder(key) }

    private func isInFolder(_ key: Pipeline.Key) -> Bool {
        guard !folders.isEmpty else { return false }
        var above = key.path
        while !above.isEmpty {
            if folders[Pipeline.Key(root: key.root, path: above)] != nil { return true }
            above = above.parent
        }
        return false
    }

    /// A file or folder was renamed within its place.
    mutating func rename(_ old: Pipeline.Key, to path: BytePath) {
        let new = Pipeline.Key(root: old.root, path: path)
        if let number = folders.removeValue(forKey: old) { folders[new] = number }
        let isMovedIn = contains(old)
        files[old] = nil
        files[new] = nil
        if isMovedIn != isInFolder(new) { files[new] = isMovedIn }
    }

    /// A scan has found a file.
    mutating func noteFound(_ key: Pipeline.Key) {
        if files[key] == nil, isInFolder(key) { files[key] = true }
    }

    /// The file has been judged.
    mutating func forget(_ key: Pipeline.Key) { files[key] = nil }

    /// The folders below a path, to be passed to ``forget(_:)`` once the path has been scanned.
    func folders(of root: String, within path: BytePath) -> [Pipeline.Key: Int] {
        folders.isEmpty ? [:] : folders.filter { $0.key.root == root && $0.key.path.isWithin(path) }
    }

    mutating func forget(_ looked: [Pipeline.Key: Int]) {
        for (key, number) in looked where folders[key] == number { folders[key] = nil }
    }
}
