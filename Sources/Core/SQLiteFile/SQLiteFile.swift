import Dispatch
import GRDB
import Glibc
import OwnFiles
import Platform

/// A system's own SQLite database, which several processes may use at once: integrity check, setting a corrupt one aside,
/// migration. Everything here blocks.
package struct SQLiteFile {
    package let path: BytePath
    /// What it holds, for messages: `the captures`.
    package let contents: String
    /// What a person whose database was set aside should know besides; a sentence, or nothing.
    package let afterLoss: String
    /// Whether each row is checked against its indexes, which takes as long as reading all of it.
    package let checksIndexes: Bool
    private let migrator: DatabaseMigrator

    package init(
        _ path: BytePath, of contents: String, migrator: DatabaseMigrator, checksIndexes: Bool = false,
        afterLoss: String = ""
    ) {
        self.path = path
        self.contents = contents
        self.migrator = migrator
        self.checksIndexes = checksIndexes
        self.afterLoss = afterLoss
    }

    /// The database, and what a person should know where one had to be set aside.
    package typealias Opened = (pool: DatabasePool, notices: [String])

    private static let companions = [""] + PrivateDatabase.companions

    /// Opens it, migrated. To be called under a lock of the caller's, so that two processes do not both migrate, nor both
    /// set the same file aside.
    ///
    /// - Returns: the database; a corrupt one is renamed to `NAME.corrupt-TIME`, never deleted, and an empty one begun.
    /// - Throws: `Fault`, and the files are as they were; `.fatal` where a newer version wrote it.
    package func open(now: Timestamp) throws -> Opened {
        Blocking.call()
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw Fault(.usage, "\(path) cannot hold \(contents): SQLite needs a path in UTF-8", path: path)
        }
        var notices: [String] = []
        // A log without its database is what a setting aside that was cut off leaves; a new database would empty it.
        if try FileStatus.of(path) == nil, try FileStatus.of(BytePath(text + "-wal")) != nil {
            notices.append(try setAside(now, because: "its log was found without it"))
        }
        do {
            return (try openChecked(text), notices)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            notices.append(try setAside(now, because: error.message ?? "\(error.resultCode)"))
        } catch {
            throw Self.fault("open \(contents) at \(path)", error)
        }
        do {
            return (try openChecked(text), notices)
        } catch {
            throw Self.fault("make a new database for \(contents) at \(path)", error)
        }
    }

    private func openChecked(_ text: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = contents
        configuration.busyMode = .timeout(10)
        // GRDB would have its threads raised above the rest, which the kernel refuses to all but root.
        configuration.qos = .default
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        try PrivateDatabase.prepare(path)
        let pool = try DatabasePool(path: text, configuration: configuration)
        do {
            try pool.read { db in
                let check = checksIndexes ? "PRAGMA integrity_check(3)" : "PRAGMA quick_check(3)"
                let report = try String.fetchAll(db, sql: check)
                if report != ["ok"] {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report.joined(separator: "; "))
                }
                if try migrator.hasBeenSuperseded(db) {
                    throw Fault(
                        .fatal,
                        "\(contents) at \(path): a newer version wrote this database; install that version to use it",
                        path: path)
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

    private func setAside(_ now: Timestamp, because reason: String) throws -> String {
        let stamp = now.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        for attempt in 1...1000 {
            let aside = "\(path.text).corrupt-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
            if try Self.companions.contains(where: { try FileStatus.of(BytePath(aside + $0)) != nil }) { continue }
            for companion in Self.companions {
                let file = BytePath(path.text + companion)
                guard try FileStatus.of(file) != nil else { continue }
                guard try Durable.renameNew(file, to: BytePath(aside + companion)) else {
                    throw Fault(
                        .failed, "\(aside)\(companion) appeared while \(file) was set aside; start again", path: file)
                }
            }
            return "the database of \(contents) is corrupt (\(reason)); it was kept as \(aside) and an empty one begun"
                + (afterLoss.isEmpty ? "" : ". \(afterLoss)")
        }
        throw Fault(
            .failed,
            "\(path) is corrupt and cannot be set aside: too many of its kind lie beside it; move some of them away",
            path: path)
    }

    /// An error of SQLite as a `Fault`: what passes by itself is transient.
    package static func fault(_ doing: String, _ error: any Error) -> any Error {
        if error is Fault || error is CancellationError { return error }
        guard let error = error as? DatabaseError else { return Fault(.failed, "cannot \(doing): \(explain(error))") }
        let passing: [ResultCode] = [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM]
        let hint = error.resultCode == .SQLITE_FULL ? " (free some space)" : ""
        return Fault(
            passing.contains(error.resultCode) ? .transient : .failed,
            "cannot \(doing): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")\(hint)")
    }
}
