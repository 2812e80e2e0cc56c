import Glibc

/// Replacing a file of the caller's own that lies among a person's: state, kept copies. Whoever reads sees one version or
/// the other, whole; what was there before goes unread. Everything here blocks.
package enum OwnFile {
    /// - Parameters:
    ///   - mode: what the new version is made with; the umask takes from it.
    ///   - kept: the mode that it gets whatever the umask says; nil to leave it at that.
    ///   - record: called with the new version while it is empty.
    package static func replace(
        _ target: DirectoryEntry, with bytes: [UInt8], mode: mode_t, keeping kept: mode_t? = nil,
        record: Durable.Record = { _, _ in }
    ) throws {
        let staged = try Durable.stage(bytes, for: target, mode: mode, record: record)
        if let kept {
            do {
                try staged.open(O_RDWR).setMode(kept)
            } catch {
                try? Durable.discard(staged, record: record)
                throw error
            }
        }
        try Durable.replace(target, with: staged, record: record)
    }
}
