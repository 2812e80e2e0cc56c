import Glibc

/// Creates a file where a person may create one of the same name at any moment: it is complete when it gets its name,
/// and never replaces another. Every call blocks.
package struct NewFile {
    /// The temporary name.
    package let staged: DirectoryEntry
    private let target: DirectoryEntry
    private let record: Durable.Record

    /// Writes the file to disk next to `target`, under a unique temporary name.
    ///
    /// - Parameter record: called with the file while it is empty.
    package init(
        _ bytes: [UInt8], at target: DirectoryEntry, mode: mode_t, record: @escaping Durable.Record = { _, _ in }
    ) throws {
        self.target = target
        self.record = record
        staged = try Durable.stage(bytes, for: target, mode: mode, record: record)
    }

    /// Gives it its name.
    ///
    /// - Returns: false if the name is taken by now; the new file is then removed.
    package func name() throws -> Bool {
        if try Durable.renameNew(staged, to: target) { return true }
        try discard()
        return false
    }

    /// For failures before it had its name.
    package func discard() throws { try Durable.discard(staged, record: record) }
}
