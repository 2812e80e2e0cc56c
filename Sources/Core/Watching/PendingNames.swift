import Platform

/// The last known name of each file that is settling, or has settled and not been fetched. For a file with several
/// names, it knows one of the pending ones.
struct PendingNames {
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

    /// The name now refers to another file; nil for none.
    mutating func set(_ key: Settler.Key, _ old: Fingerprint?, _ new: Fingerprint?) {
        if let old {
            let file = File(old, key.root)
            if names[file] == key.path { names[file] = nil }
        }
        if let new { names[File(new, key.root)] = key.path }
        // A dictionary never shrinks on its own.
        if names.isEmpty { names = [:] }
    }

    func name(of file: Fingerprint, in root: String) -> BytePath? { names[File(file, root)] }
}
