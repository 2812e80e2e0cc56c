import Dispatch
import GRDB
import Glibc
import OwnFiles
import Platform

/// A snapshot of a database, for as long as this value is held. Writers go on, but their log grows, because it cannot
/// be checkpointed: hold the snapshot only while copying the database. Every call blocks.
package final class DatabaseInstant: Sendable {
    package let path: BytePath
    private let queue: DatabaseQueue

    /// Pages between two calls of `progress`.
    private static let step: CInt = 1024

    /// Starts reading; later commits are not seen.
    ///
    /// - Throws: `Fault`; transient if the database cannot be read at the moment.
    package init(of path: BytePath) throws {
        Blocking.call()
        self.path = path
        var configuration = Configuration.patient("steward.backup", readOnly: true)
        // The transaction stays open between the calls.
        configuration.allowsUnsafeTransactions = true
        do {
            queue = try DatabaseQueue(path: path.text, configuration: configuration)
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN DEFERRED TRANSACTION")
                // The first read fixes the snapshot.
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
            }
        } catch {
            throw SQLiteFile.fault("read the database \(path)", error)
        }
    }

    /// For temporary files next to the database, SQLite only says that it cannot write them.
    private static func isFull(_ error: DatabaseError, _ target: BytePath) -> Bool {
        error.resultCode == .SQLITE_FULL
            || [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) && SQLiteFile.lacksRoom(beside: target)
    }

    /// Writes the database into a new file of mode 0600 that needs no log next to it, and checks the result.
    ///
    /// Does not use VACUUM INTO, which cannot run in an open transaction, and outside of it would copy a later state.
    ///
    /// - Parameter progress: called with the number of pages written and in total; an error it throws ends the copy.
    /// - Throws: `Fault`; `.failed` if the database is damaged.
    package func copy(to target: BytePath, progress: (_ done: Int, _ total: Int) throws -> Void) throws {
        Blocking.call()
        try PrivateDatabase.prepare(target)
        do {
            let copy = try DatabaseQueue(path: target.text, configuration: .patient("steward.backup"))
            try queue.inDatabase { source in
                try copy.writeWithoutTransaction { db in
                    // A crash cannot harm a file that is not in use yet; it is synced once it is complete. And no other
                    // process uses it, so it needs no shared memory next to it.
                    try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
                    try withoutActuallyEscaping(progress) { progress in
                        try source.backup(to: db, pagesPerStep: Self.step) {
                            try progress($0.completedPageCount, $0.totalPageCount)
                        }
                    }
                }
            }
            try copy.writeWithoutTransaction { db in
                // A copy with its own log could not be read from a read-only location.
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try copy.close()
        } catch let error as DatabaseError where Self.isFull(error, target) {
            // SQLite's message here belongs to another connection.
            throw Fault(
                .transient, "cannot copy the database \(path) to \(target): the disk is full (free some space)",
                path: target, errno: ENOSPC)
        } catch {
            throw SQLiteFile.fault("copy the database \(path) to \(target)", error)
        }
        if let damage = try SQLiteFile.damage(of: target, indexes: true) {
            throw Fault(
                .failed,
                "the database \(path) is damaged (\(damage)), so a copy of it is not a backup; stop the "
                    + "agent and put an earlier backup in its place", path: path)
        }
        try Descriptor(target).sync()
    }

    /// The total number of rows in these tables of a database that is not in use; a missing table has none.
    ///
    /// - Throws: `Fault` if it cannot be read.
    package static func rows(in path: BytePath, of tables: [String]) throws -> Int {
        Blocking.call()
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: .patient("steward.backup", readOnly: true))
            defer { try? queue.close() }
            return try queue.read { db in
                try tables.filter { try db.tableExists($0) }.reduce(0) { sum, table in
                    try sum + (Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table)") ?? 0)
                }
            }
        } catch {
            throw SQLiteFile.fault("count what is in the database \(path)", error)
        }
    }

    /// Releases the snapshot, so that the log can be checkpointed again.
    package func close() throws { try queue.close() }
}
