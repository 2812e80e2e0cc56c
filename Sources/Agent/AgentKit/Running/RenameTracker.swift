import Platform

/// The current names of files that were renamed within their place. Holds no more entries than files are settling.
struct RenameTracker {
    private var next: [Pipeline.Key: BytePath] = [:]

    /// A file was renamed within its place.
    mutating func add(_ old: Pipeline.Key, _ new: BytePath) {
        guard old.path != new else { return }
        next[old] = new
        // The file that had the new name is gone, so there are no cycles.
        next[Pipeline.Key(root: old.root, path: new)] = nil
    }

    /// The file's current name, after any number of renames; nil if the name was not given up.
    mutating func name(of key: Pipeline.Key) -> BytePath? {
        var passed: [Pipeline.Key] = []
        var last = key
        while let path = next[last] {
            passed.append(last)
            last = Pipeline.Key(root: key.root, path: path)
        }
        // Path compression: each name in a chain of renames is looked up.
        for key in passed { next[key] = last.path }
        return passed.isEmpty ? nil : last.path
    }

    /// The fate of the name has been judged.
    mutating func forget(_ key: Pipeline.Key) { next[key] = nil }
}
