import Platform

/// What the kernel says has come into a place from outside. It arrives there, also while a name that the same file had in the
/// place before is yet to be judged as gone; elsewhere its inode would tell that it was renamed.
///
/// Of files there are no more than settle. A folder stays until it has been looked through, when its files are noted.
struct MovedInNames {
    /// False for what was renamed within the place into a folder that has come from outside.
    private var files: [Pipeline.Key: Bool] = [:]
    /// Each with a number of its own, so that a look ends only what was there when it began.
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

    /// A file or folder has got another name in its place.
    mutating func rename(_ old: Pipeline.Key, to path: BytePath) {
        let new = Pipeline.Key(root: old.root, path: path)
        if let number = folders.removeValue(forKey: old) { folders[new] = number }
        let isMovedIn = contains(old)
        files[old] = nil
        files[new] = nil
        if isMovedIn != isInFolder(new) { files[new] = isMovedIn }
    }

    /// A look through a place has come upon a file.
    mutating func noteFound(_ key: Pipeline.Key) {
        if files[key] == nil, isInFolder(key) { files[key] = true }
    }

    /// The file has been judged.
    mutating func forget(_ key: Pipeline.Key) { files[key] = nil }

    /// The folders below a path, for ``forget(_:)`` when that has been looked through.
    func folders(of root: String, within path: BytePath) -> [Pipeline.Key: Int] {
        folders.isEmpty ? [:] : folders.filter { $0.key.root == root && $0.key.path.isWithin(path) }
    }

    mutating func forget(_ looked: [Pipeline.Key: Int]) {
        for (key, number) in looked where folders[key] == number { folders[key] = nil }
    }
}
