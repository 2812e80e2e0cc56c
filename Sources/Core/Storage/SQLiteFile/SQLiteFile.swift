import Dispatch
import GRDB
import OwnFiles
import Platform

/// An SQLite database of one of the systems, possibly used by several processes: integrity check, setting a corrupt one
/// aside, migration. WAL with `synchronous=FULL` (measured: in a power cut NORMAL lost every row, FULL none). Every
/// call blocks.
package struct SQLiteFile {
    /// What to do with a corrupt database.
    package enum Corruption: Sendable {
        /// Rename it to `NAME.corrupt-TIME`, never delete it, and create an empty one. The loss is recorded in the
        /// registry first.
        ///
        /// - Parameter hint: what else the owner should know; a sentence, or empty.
        case setAside(LossRegistry, hint: String = "")
        /// Leave it as it is, and open nothing.
        ///
        /// - Parameter remedy: what the owner can do; ends the message.
        case refused(remedy: String)
    }

    /// An opened database, and the loss if an old one was set aside. The registry has the loss already; it is returned
    /// for callers that want to report it at once.
    package struct Opened {
        package let pool: DatabasePool
        package var loss: StoreLoss?
        package var notices: [String] { loss.map { [$0.message] } ?? [] }
    }

    package let path: BytePath
    /// Its contents as named in messages: `the captures`.
    package let contents: String
    private let migrator: DatabaseMigrator
    private let corruption: Corruption
    private let isChecked: Bool
    private let checksIndexes: Bool
    private let settings: [String]
    private let writerSettings: [String]
    private let poolReaders: Int

    /// - Parameters:
    ///   - isChecked: whether SQLite looks for damage first, which takes as long as reading all of it; unnecessary if
    ///     another
    ///     process has it open and did so.
    ///   - checksIndexes: whether each row is checked against its indexes, which takes as long as reading all of it.
    ///   - settings: `PRAGMA`s for each connection, in addition to those of all databases.
    ///   - writerSettings: `PRAGMA`s for the writer, applied after the others.
    ///   - poolReaders: the most read connections of the pool.
    package init(
        _ path: BytePath, of contents: String, migrator: DatabaseMigrator, isChecked: Bool = true,
        checksIndexes: Bool = false, settings: [String] = [], writerSettings: [String] = [], poolReaders: Int = 5,
        whenCorrupt corruption: Corruption
    ) {
        self.path = path
        self.contents = contents
        self.migrator = migrator
        self.isChecked = isChecked
        self.checksIndexes = checksIndexes
        self.settings = settings
        self.writerSettings = writerSettings
        self.poolReaders = poolReaders
        self.corruption = corruption
    }

    private static let companions = [""] + PrivateDatabase.companions

    /// Opens and migrates it. Call it while holding a lock, so that two processes do not both migrate it, or both set
    /// the same file aside.
    ///
    /// - Throws: `Fault`, leaving the files unchanged: `.fatal` if a newer version wrote it, or it is corrupt and must
    ///   not be set aside; `.transient` if it cannot be opened at the moment because its disk is full.
    package func open(now: Timestamp) throws -> Opened {
        Blocking.call()
        let text = try text()
        // A log without its database is left by an interrupted setting aside; a new database would empty it.
        if try FileStatus.of(path) == nil, try FileStatus.of(BytePath(text + "-wal")) != nil {
            return try openAnew(text, now, because: "its log was found without it")
        }
        makeRoom(text)
        do {
            return Opened(pool: try openChecked(text))
        } catch let error as DatabaseError where Self.isDamage(error) {
            return try openAnew(text, now, because: error.message ?? "\(error.resultCode)")
        } catch {
            throw openingFault("open \(contents) at \(path)", error)
        }
    }

    /// On a full disk, checkpoints the log and frees its space: a log that has filled the disk would otherwise keep the
    /// database unwritable forever. Uses the log without a shared-memory file, for which there may be no space.
    private func makeRoom(_ text: String) {
        do {
            let log = try FileStatus.of(BytePath(text + "-wal"))
            guard log?.size ?? 0 > 0, try FileStatus.of(path)?.size ?? 0 > 0, Self.lacksRoom(beside: path) else {
                return
            }
            var alone = Configuration()
            alone.label = contents
            alone.qos = .default
            alone.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            let queue = try DatabaseQueue(path: text, configuration: alone)
            _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try queue.close()
        } catch {
            // It is in use or damaged; opening it will tell.
        }
    }

    /// Opens it read-only, beside its writer; neither checks nor migrates it.
    package func openForReading() throws -> DatabasePool {
        Blocking.call()
        do {
            return try DatabasePool(path: try text(), configuration: configuration(readOnly: true))
        } catch {
            throw openingFault("read \(contents) at \(path)", error)
        }
    }

    /// One more read connection to an open database, for long operations. Blocks.
    package func reader() throws -> DatabaseQueue {
        try DatabaseQueue(path: try text(), configuration: configuration(readOnly: true))
    }

    /// More read connections to an open database.
    ///
    /// - Parameter count: how many reads may run concurrently.
    package func readers(_ count: Int) throws -> DatabaseReaders {
        let (text, configuration) = (try text(), configuration(readOnly: true))
        return DatabaseReaders(count: count) { try DatabaseQueue(path: text, configuration: configuration) }
    }

    /// Damage of a database; nil if there is none, or no database. Reads all of it and changes nothing. Blocks.
    ///
    /// - Parameter indexes: whether each row is checked against its indexes; ``open(now:)`` does so only if told to.
    package static func damage(of path: BytePath, indexes: Bool = false) throws -> String? {
        Blocking.call()
        guard try FileStatus.of(path)?.size ?? 0 > 0 else { return nil }
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: .patient("steward.check", readOnly: true))
            defer { try? queue.close() }
            try queue.read { try check($0, indexes: indexes) }
            return nil
        } catch let error as DatabaseError where isDamage(error) {
            return error.message ?? "\(error.resultCode)"
        } catch {
            throw fault("look through the database \(path)", error)
        }
    }

    /// - Throws: `DatabaseError` if SQLite finds damage.
    private static func check(_ db: Database, indexes: Bool) throws {
        let report = try String.fetchAll(db, sql: indexes ? "PRAGMA integrity_check(3)" : "PRAGMA quick_check(3)")
        guard report != ["ok"] else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report.joined(separator: "; "))
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
    }

    /// Checkpoints and empties a database's log, so that no deleted data stays there; works while other processes use
    /// the database.
    ///
    /// - Returns: whether that succeeded; it fails if a read takes longer than ten seconds.
    package static func emptyLog(of path: BytePath) throws -> Bool {
        Blocking.call()
        guard try FileStatus.of(path) != nil else { return true }
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: .patient("steward.log"))
            defer { try? queue.close() }
            _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            return true
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            return false
        } catch {
            throw fault("empty the log of the database \(path)", error)
        }
    }

    private func text() throws -> String {
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw Fault(
                .fatal,
                "\(path) cannot hold \(contents): the name is not UTF-8, and SQLite takes no other; choose another folder",
                path: path)
        }
        return text
    }

    private func openAnew(_ text: String, _ now: Timestamp, because reason: String) throws -> Opened {
        switch corruption {
        case .refused(let remedy):
            throw Fault(.fatal, "\(path) cannot be used (\(reason)); \(remedy)", path: path)
        case .setAside(let losses, let hint):
            let loss = try setAside(now, reason, hint, losses)
            do {
                return Opened(pool: try openChecked(text), loss: loss)
            } catch {
                throw openingFault("make a new database for \(contents) at \(path)", error)
            }
        }
    }

    private func configuration(readOnly: Bool) -> Configuration {
        var configuration = Configuration.patient(contents, readOnly: readOnly)
        configuration.maximumReaderCount = poolReaders
        configuration.prepareDatabase { [settings, writerSettings] db in
            // Deleted data must not remain in the file's free pages.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            for setting in settings { try db.execute(sql: "PRAGMA \(setting)") }
            guard !db.configuration.readonly else { return }
            for setting in writerSettings { try db.execute(sql: "PRAGMA \(setting)") }
        }
        return configuration
    }

    private func openChecked(_ text: String) throws -> DatabasePool {
        try PrivateDatabase.prepare(path)
        let pool = try DatabasePool(path: text, configuration: configuration(readOnly: false))
        do {
            // Only now: GRDB sets NORMAL when it enables the log, after the caller's preparation.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try pool.read { db in
                if isChecked { try Self.check(db, indexes: checksIndexes) }
                if try migrator.hasBeenSuperseded(db) {
                    throw Fault(
                        .fatal,
                        "\(path), which holds \(contents), was written by a newer version; install that version, or move "
                            + "the file away", path: path)
                }
            }
            try migrator.migrate(pool)
            // The connection that examined it has cached the old columns, and would take their values for those of the
            // new ones.
            pool.invalidateReadOnlyConnections()
            return pool
        } catch {
            // An open connection would keep writing to the renamed files.
            try pool.close()
            throw error
        }
    }

    private func setAside(
        _ now: Timestamp, _ reason: String, _ hint: String, _ losses: LossRegistry
    ) throws -> StoreLoss {
        let stamp = try freeStamp(now, losses)
        let aside = aside(stamp)
        let notice =
            "the database of \(contents) was corrupt (\(reason)); it was kept as \(aside) and an empty one was created"
        let loss = StoreLoss(
            id: LossRegistry.id(of: path, stamp), database: path, time: now, aside: aside,
            message: notice + (hint.isEmpty ? "" : ". \(hint)"))
        try losses.note(loss)
        FaultPoint.reach("loss noted")
        for companion in Self.companions {
            let file = BytePath(path.text + companion)
            guard try FileStatus.of(file) != nil else { continue }
            guard try Durable.renameNew(file, to: BytePath(aside.text + companion)) else {
                throw Fault(
                    .failed, "\(aside)\(companion) appeared while \(file) was set aside; start again", path: file)
            }
        }
        return loss
    }

    private func aside(_ stamp: String) -> BytePath { BytePath("\(path.text).corrupt-\(stamp)") }

    private func freeStamp(_ now: Timestamp, _ losses: LossRegistry) throws -> String {
        // If a setting aside was interrupted after its record, this is the same loss.
        for loss in try losses.standing(of: path) {
            guard let aside = loss.aside, try !isTaken(aside) else { continue }
            return String(loss.id.dropFirst(LossRegistry.id(of: path, "").count))
        }
        let stamp = LossRegistry.stamp(now)
        for attempt in 1...1000 {
            let free = stamp + (attempt == 1 ? "" : "-\(attempt)")
            if try !isTaken(aside(free)) { return free }
        }
        throw Fault(
            .failed,
            "\(path) is corrupt and cannot be set aside: there are too many earlier ones beside it; move some of them away",
            path: path)
    }

    private func isTaken(_ aside: BytePath) throws -> Bool {
        try Self.companions.contains { try FileStatus.of(BytePath(aside.text + $0)) != nil }
    }
}

extension Configuration {
    /// Waits ten seconds for other users of the database.
    static func patient(_ label: String, readOnly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(10)
        // GRDB would raise the priority of its threads, which the kernel permits only to root.
        configuration.qos = .default
        return configuration
    }
}
