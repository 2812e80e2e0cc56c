import Platform

/// Under which names files are now that gave up others in their place. It holds no more than what settles.
struct RenameTracker {
    private var next: [Pipeline.Key: BytePath] = [:]

    /// The file of a name has got another one in the same place.
    mutating func add(_ old: Pipeline.Key, _ new: BytePath) {
        guard old.path != new else { return }
        next[old] = new
        // Whatever had that name before is not there any more; and so no way leads back to where it began.
        next[Pipeline.Key(root: old.root, path: new)] = nil
    }

    /// The name that its file has got, by however many others; nil where the name was not given up.
    mutating func name(of key: Pipeline.Key) -> BytePath? {
        var passed: [Pipeline.Key] = []
        var last = key
        while let path = next[last] {
            passed.append(last)
            last = Pipeline.Key(root: key.root, path: path)
        }
        // Of many names one after the other each is asked for.
        for key in passed { next[key] = last.path }
        return passed.isEmpty ? nil : last.path
    }

    /// It has been judged what has become of the name.
    mutating func forget(_ key: Pipeline.Key) { next[key] = nil }
}
