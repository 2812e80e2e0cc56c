import Platform

/// Under which name each file was seen last that settles, or has settled and has not been fetched yet. Of a file with more
/// names it knows one of those that are pending.
struct SeenFiles {
    private struct File: Hashable {
        let root: String
        let device: UInt64
        let inode: UInt64

        init(_ print: Fingerprint, _ root: String) {
            self.root = root
            (device, inode) = (print.device, print.inode)
        }
    }

    private var names: [File: BytePath] = [:]

    /// What stands under a name is another file by now; nil for none.
    mutating func set(_ key: Settler.Key, _ old: Fingerprint?, _ new: Fingerprint?) {
        if let old {
            let file = File(old, key.root)
            if names[file] == key.path { names[file] = nil }
        }
        if let new { names[File(new, key.root)] = key.path }
        // A dictionary never shrinks by itself.
        if names.isEmpty { names = [:] }
    }

    func name(of file: Fingerprint, in root: String) -> BytePath? { names[File(file, root)] }
}
