import Foundation
import GRDB
import Glibc
import Platform

/// Opening one of the module's databases, which several processes may use at once. Everything here blocks.
enum TKDatabase {
    private static let companions = ["", "-wal", "-shm"]

    /// - Parameter what: what the database holds, for messages: `the usage`.
    /// - Returns: the database, migrated, and what a person should know where a corrupt one was set aside: it is
    ///   renamed
    ///   to `NAME.corrupt-TIME`, never deleted, and an empty one begun.
    /// - Throws: `Fault`; `.fatal` where a newer version wrote it.
    static func open(
        _ path: BytePath, _ what: String, migrator: DatabaseMigrator, now: Timestamp
    ) throws -> (pool: DatabasePool, notices: [String]) {
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw Fault(.usage, "\(path) cannot hold \(what): SQLite needs a path in UTF-8", path: path)
        }
        // Under the lock, so that two processes do not both migrate, nor both set the same file aside.
        return try TKFile.exclusively(in: path.parent) {
            do {
                return (try openChecked(text, what, migrator), [])
            } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
                let notice = try setAside(path, what, now, because: error.message ?? "\(error.resultCode)")
                do {
                    return (try openChecked(text, what, migrator), [notice])
                } catch {
                    throw fault("make a new database for \(what) at \(path)", error)
                }
            } catch {
                throw fault("open \(what) at \(path)", error)
            }
        }
    }

    private static func openChecked(
        _ path: String, _ what: String, _ migrator: DatabaseMigrator
    ) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "tk"
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try pool.read { db in
                let report = try String.fetchAll(db, sql: "PRAGMA quick_check(3)")
                if report != ["ok"] {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report.joined(separator: "; "))
                }
                if try migrator.hasBeenSuperseded(db) {
                    throw Fault(
                        .fatal, "\(what) at \(path) was written by a newer version; install that version to use it")
                }
            }
            try migrator.migrate(pool)
            return pool
        } catch {
            // An open connection would go on writing to the files under their new names.
            try pool.close()
            throw error
        }
    }

    private static func setAside(
        _ path: BytePath, _ what: String, _ now: Timestamp, because reason: String
    ) throws -> String {
        let stamp = now.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        for attempt in 1...1000 {
            let aside = "\(path.text).corrupt-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
            if try companions.contains(where: { try FileStatus.of(BytePath(aside + $0)) != nil }) { continue }
            for companion in companions {
                let file = BytePath(path.text + companion)
                guard try FileStatus.of(file) != nil else { continue }
                guard try Durable.renameNew(file, to: BytePath(aside + companion)) else {
                    throw Fault(.failed, "\(aside)\(companion) appeared while \(file) was set aside; start again")
                }
            }
            return "the database of \(what) is corrupt (\(reason)); it was kept as \(aside) and an empty one begun"
        }
        throw Fault(.failed, "\(path) is corrupt and cannot be set aside: too many of its kind lie beside it")
    }

    /// An error of SQLite as a `Fault`: what passes by itself is transient.
    static func fault(_ doing: String, _ error: any Error) -> any Error {
        if error is Fault || error is CancellationError { return error }
        guard let error = error as? DatabaseError else { return Fault(.failed, "cannot \(doing): \(explain(error))") }
        let passing: [ResultCode] = [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM]
        let hint = error.resultCode == .SQLITE_FULL ? " (free some space, then try again)" : ""
        return Fault(
            passing.contains(error.resultCode) ? .transient : .failed,
            "cannot \(doing): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")\(hint)")
    }
}
