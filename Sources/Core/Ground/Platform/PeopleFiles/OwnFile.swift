import Glibc

/// Replaces a file of the caller's own among a person's: state, kept copies. Readers see one complete version or the
/// other; the old version is not read. Every call blocks.
package enum OwnFile {
    /// - Parameters:
    ///   - mode: the mode to create the new version with, subject to the umask.
    ///   - kept: a mode to set regardless of the umask; nil for none.
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
