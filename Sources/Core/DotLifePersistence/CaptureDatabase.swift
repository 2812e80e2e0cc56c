import Foundation
import GRDB
import Glibc
import Platform

/// Opening the store's database: integrity check, setting a corrupt one aside, migration. Everything here blocks.
enum CaptureDatabase {
    static let fileName = "captures.sqlite"
    private static let companions = ["", "-wal", "-shm"]

    /// - Returns: the database and, where one had to be set aside, what a person should know of it.
    /// - Throws: `Fault`; the files are as they were.
    static func open(in folder: BytePath, now: Timestamp) throws -> (pool: DatabasePool, notices: [String]) {
        let path = folder.appending(fileName)
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw Fault(.usage, "\(folder) cannot hold the captures: SQLite needs a path in UTF-8", path: folder)
        }
        var notices: [String] = []
        // A log without its database is what a setting aside that was cut off leaves; a new database would empty it.
        if try FileStatus.of(path) == nil, try FileStatus.of(folder.appending(fileName + "-wal")) != nil {
            notices.append(try setAside(path, now, because: "its log was found without it"))
        }
        do {
            return (try openChecked(text), notices)
        } catch let error as DatabaseError where isCorruption(error) {
            notices.append(try setAside(path, now, because: error.message ?? "\(error.resultCode)"))
        } catch {
            throw Self.fault("open the captures in \(folder)", error)
        }
        do {
            return (try openChecked(text), notices)
        } catch {
            throw Self.fault("make a new database for the captures in \(folder)", error)
        }
    }

    private static func openChecked(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "captures"
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try pool.read { db in
                let report = try String.fetchAll(db, sql: "PRAGMA integrity_check(3)")
                if report != ["ok"] {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report.joined(separator: "; "))
                }
                if try CaptureSchema.migrator.hasBeenSuperseded(db) {
                    throw Fault(.fatal, "\(path) was written by a newer version; install that version to use it")
                }
            }
            try CaptureSchema.migrator.migrate(pool)
            return pool
        } catch {
            // An open connection would go on writing to the files under their new names.
            try pool.close()
            throw error
        }
    }

    private static func isCorruption(_ error: DatabaseError) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
    }

    private static func setAside(_ path: BytePath, _ now: Timestamp, because reason: String) throws -> String {
        let stamp = now.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        for attempt in 1...1000 {
            let aside = BytePath("\(path.text).corrupt-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)"))
            let taken = try companions.contains { try FileStatus.of(BytePath(aside.text + $0)) != nil }
            if taken { continue }
            for companion in companions {
                let file = BytePath(path.text + companion)
                guard try FileStatus.of(file) != nil else { continue }
                guard try Durable.renameNew(file, to: BytePath(aside.text + companion)) else {
                    throw Fault(
                        .failed, "\(aside)\(companion) appeared while \(file) was set aside; start again", path: file)
                }
            }
            return "the capture database is corrupt (\(reason)); it was kept as \(aside) and an empty one begun. "
                + "The photos are untouched; restore \(path) from a backup to have the captures back"
        }
        throw Fault(
            .failed, "\(path) is corrupt and cannot be set aside: too many of its kind lie beside it", path: path)
    }

    /// An error of SQLite as a `Fault`: what passes by itself is transient.
    static func fault(_ doing: String, _ error: any Error) -> Fault {
        if let fault = error as? Fault { return fault }
        guard let error = error as? DatabaseError else { return Fault(.failed, "cannot \(doing): \(explain(error))") }
        let passing: [ResultCode] = [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM]
        let hint = error.resultCode == .SQLITE_FULL ? " (free some space; it is tried again by itself)" : ""
        return Fault(
            passing.contains(error.resultCode) ? .transient : .failed,
            "cannot \(doing): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")\(hint)")
    }
}
