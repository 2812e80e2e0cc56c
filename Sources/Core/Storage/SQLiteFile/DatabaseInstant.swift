import Dispatch
import GRDB
import Glibc
import OwnFiles
import Platform

/// A database as it was at one instant, for as long as this is held: whoever writes it goes on, and its log grows meanwhile,
/// because nothing of it can be folded in. So it is held for no longer than the copy of the database takes. Everything here
/// blocks.
package final class DatabaseInstant: Sendable {
    package let path: BytePath
    private let queue: DatabaseQueue

    /// Pages between two calls of `progress`.
    private static let step: CInt = 1024

    /// Begins to read; what is committed from now on is not seen.
    ///
    /// - Throws: `Fault`; transient where the database cannot be read just now.
    package init(of path: BytePath) throws {
        Blocking.call()
        self.path = path
        var configuration = Self.configuration
        configuration.readonly = true
        // The transaction stays open between the calls.
        configuration.allowsUnsafeTransactions = true
        do {
            queue = try DatabaseQueue(path: path.text, configuration: configuration)
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN DEFERRED TRANSACTION")
                // The instant is that of the first reading.
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
            }
        } catch {
            throw SQLiteFile.fault("read the database \(path)", error)
        }
    }

    /// Of files that lie beside the database for a while SQLite says only that they cannot be written.
    private static func isFull(_ error: DatabaseError, _ target: BytePath) -> Bool {
        error.resultCode == .SQLITE_FULL
            || [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) && SQLiteFile.lacksRoom(beside: target)
    }

    /// Writes the database into a new file of mode 0600 that needs no log beside it, and looks through what was written.
    ///
    /// Not by VACUUM INTO, which a transaction at hand forbids: what would be copied is a later instant.
    ///
    /// - Parameter progress: told how many of how many pages are written; what it throws ends the copying.
    /// - Throws: `Fault`; `.failed` where the database is damaged.
    package func copy(to target: BytePath, progress: (_ done: Int, _ total: Int) throws -> Void) throws {
        Blocking.call()
        try PrivateDatabase.prepare(target)
        do {
            let copy = try DatabaseQueue(path: target.text, configuration: Self.configuration)
            try queue.inDatabase { source in
                try copy.writeWithoutTransaction { db in
                    // The file is nothing yet that a crash could harm; it is synced when it is whole. And it is nobody else's,
                    // so that it needs no shared memory beside it.
                    try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
                    try withoutActuallyEscaping(progress) { progress in
                        try source.backup(to: db, pagesPerStep: Self.step) {
                            try progress($0.completedPageCount, $0.totalPageCount)
                        }
                    }
                }
            }
            try copy.writeWithoutTransaction { db in
                // A copy with a log of its own could not be read where nothing may be written.
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try copy.close()
        } catch let error as DatabaseError where Self.isFull(error, target) {
            // The message that SQLite has for it here is that of another connection.
            throw Fault(
                .transient, "cannot copy the database \(path) to \(target): the disk is full (free some space)",
                path: target, errno: ENOSPC)
        } catch {
            throw SQLiteFile.fault("copy the database \(path) to \(target)", error)
        }
        let found = try Self.damage(in: target)
        guard found.isEmpty else {
            throw Fault(
                .failed,
                "the database \(path) is damaged (\(found.joined(separator: "; "))), and a copy of it is no backup; stop the "
                    + "agent and put an earlier backup in its place", path: path)
        }
        try Descriptor(target).sync()
    }

    /// What SQLite finds wrong with a database that nobody uses; empty where it is sound. Nothing is written, also not
    /// beside it, where ``copy(to:progress:)`` has made it.
    package static func damage(in path: BytePath) throws -> [String] {
        Blocking.call()
        var configuration = configuration
        configuration.readonly = true
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: configuration)
            defer { try? queue.close() }
            let report = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(3)") }
            return report == ["ok"] ? [] : report
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            return [error.message ?? "it is no database"]
        } catch {
            throw SQLiteFile.fault("look through the database \(path)", error)
        }
    }

    /// How many rows the tables of a database have together that nobody uses; those that it does not have have none.
    ///
    /// - Throws: `Fault` where it cannot be read.
    package static func rows(in path: BytePath, of tables: [String]) throws -> Int {
        Blocking.call()
        var configuration = configuration
        configuration.readonly = true
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: configuration)
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

    /// Gives the instant up; the log can be folded in again.
    package func close() throws { try queue.close() }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "steward.backup"
        configuration.busyMode = .timeout(10)
        // GRDB would have its threads raised above the rest, which the kernel refuses to all but root.
        configuration.qos = .default
        return configuration
    }
}
