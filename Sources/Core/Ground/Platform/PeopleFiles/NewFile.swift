import Glibc

/// Making a file where a person may make one of the same name at any moment: whole when it gets its name, and never in the
/// place of another. Everything here blocks.
package struct NewFile {
    /// The name that it has until then.
    package let staged: DirectoryEntry
    private let target: DirectoryEntry
    private let record: Durable.Record

    /// Writes the file beside `target`, on the disk, under a name that nobody else has.
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
    /// - Returns: false where something has that name by now; the new file is gone then.
    package func name() throws -> Bool {
        if try Durable.renameNew(staged, to: target) { return true }
        try discard()
        return false
    }

    /// For what failed before it had its name.
    package func discard() throws { try Durable.discard(staged, record: record) }
}
