import Dispatch
import GRDB
import Glibc
import OwnFiles
import Platform

/// A system's own SQLite database, which several processes may use at once: integrity check, setting a corrupt one aside,
/// migration. WAL with `synchronous=FULL` (measured: NORMAL lost every row of a power cut, FULL none). Everything here
/// blocks.
package struct SQLiteFile {
    /// What becomes of a database that is corrupt.
    package enum Corruption: Sendable {
        /// It is renamed to `NAME.corrupt-TIME`, never deleted, and an empty one begun. The loss is in the registry before
        /// that.
        ///
        /// - Parameter hint: what its owner should know besides; a sentence, or nothing.
        case setAside(LossRegistry, hint: String = "")
        /// It is left as it is, and nothing is opened.
        ///
        /// - Parameter remedy: what its owner can do; ends the message.
        case refused(remedy: String)
    }

    /// A database that was opened, and the loss where an old one had to be set aside. The registry knows of that already;
    /// here it is for who wants to say so at once.
    package struct Opened {
        package let pool: DatabasePool
        package var loss: StoreLoss?
        package var notices: [String] { loss.map { [$0.message] } ?? [] }
    }

    package let path: BytePath
    /// What it holds, for messages: `the captures`.
    package let contents: String
    private let migrator: DatabaseMigrator
    private let corruption: Corruption
    private let isChecked: Bool
    private let checksIndexes: Bool
    private let settings: [String]
    private let writerSettings: [String]
    private let poolReaders: Int

    /// - Parameters:
    ///   - isChecked: whether SQLite looks for damage first, which takes as long as reading all of it; not needed where
    ///     another process has it open, and did.
    ///   - checksIndexes: whether each row is checked against its indexes, which takes as long as reading all of it.
    ///   - settings: `PRAGMA`s for each connection, beside those that all databases have.
    ///   - writerSettings: those for the one that writes; they come after the others.
    ///   - poolReaders: how many connections of the pool read at most.
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

    /// Opens it, migrated. To be called under a lock of the caller's, so that two processes do not both migrate, nor both
    /// set the same file aside.
    ///
    /// - Throws: `Fault`, and the files are as they were: `.fatal` where a newer version wrote it, or where it is corrupt
    ///   and not to be set aside; `.transient` where it cannot be opened just now, because its disk is full.
    package func open(now: Timestamp) throws -> Opened {
        Blocking.call()
        let text = try text()
        // A log without its database is what a setting aside that was cut off leaves; a new database would empty it.
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

    /// On a full disk, folds the log into the database and gives its room back: else a log that has filled the disk would keep
    /// the database from being written for ever. It uses the log without a file of shared memory beside it, for which there
    /// may be no room.
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
            // Somebody else has it open, or it is damaged: opening it says so.
        }
    }

    /// Opens it for reading alone, beside whoever writes it: neither checked nor migrated.
    package func openForReading() throws -> DatabasePool {
        Blocking.call()
        do {
            return try DatabasePool(path: try text(), configuration: configuration(readOnly: true))
        } catch {
            throw openingFault("read \(contents) at \(path)", error)
        }
    }

    /// One more connection that reads an open database, for what takes long. Blocks.
    package func reader() throws -> DatabaseQueue {
        try DatabaseQueue(path: try text(), configuration: configuration(readOnly: true))
    }

    /// More connections that read an open database.
    ///
    /// - Parameter count: how many reads may go on at a time.
    package func readers(_ count: Int) throws -> DatabaseReaders {
        let (text, configuration) = (try text(), configuration(readOnly: true))
        return DatabaseReaders(count: count) { try DatabaseQueue(path: text, configuration: configuration) }
    }

    /// What is wrong with a database, as ``open(now:)`` finds it; nil for nothing, or where there is none. Reads all of it and
    /// changes nothing. Blocks.
    package static func damage(of path: BytePath) throws -> String? {
        Blocking.call()
        guard try FileStatus.of(path)?.size ?? 0 > 0 else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.qos = .default
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: configuration)
            defer { try? queue.close() }
            try queue.read { try check($0, indexes: false) }
            return nil
        } catch let error as DatabaseError where isDamage(error) {
            return error.message ?? "\(error.resultCode)"
        } catch {
            throw fault("look through the database \(path)", error)
        }
    }

    /// - Throws: `DatabaseError` where SQLite finds damage.
    private static func check(_ db: Database, indexes: Bool) throws {
        let report = try String.fetchAll(db, sql: indexes ? "PRAGMA integrity_check(3)" : "PRAGMA quick_check(3)")
        guard report != ["ok"] else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report.joined(separator: "; "))
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
    }

    /// Folds the log of a database into it and leaves it empty, so that nothing stays there that was deleted; also where
    /// other processes use the database.
    ///
    /// - Returns: whether that could be done; not where somebody reads for more than ten seconds.
    package static func emptyLog(of path: BytePath) throws -> Bool {
        Blocking.call()
        guard try FileStatus.of(path) != nil else { return true }
        var configuration = Configuration()
        configuration.label = "steward.log"
        configuration.busyMode = .timeout(10)
        configuration.qos = .default
        do {
            let queue = try DatabaseQueue(path: path.text, configuration: configuration)
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
        var configuration = Configuration()
        configuration.label = contents
        configuration.maximumReaderCount = poolReaders
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(10)
        // GRDB would have its threads raised above the rest, which the kernel refuses to all but root.
        configuration.qos = .default
        configuration.prepareDatabase { [settings, writerSettings] db in
            // What is deleted must not stand in the file's free pages.
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
            // Only now: GRDB sets NORMAL when it turns the log on, after all that it lets others prepare.
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
            // The one that has looked at it knows the columns of before, and would take their values for the new ones'.
            pool.invalidateReadOnlyConnections()
            return pool
        } catch {
            // An open connection would go on writing to the files under their new names.
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
            "the database of \(contents) was corrupt (\(reason)); it was kept as \(aside) and an empty one begun"
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
        // One that was noted and then cut off is the same loss.
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
            "\(path) is corrupt and cannot be set aside: too many of its kind lie beside it; move some of them away",
            path: path)
    }

    private func isTaken(_ aside: BytePath) throws -> Bool {
        try Self.companions.contains { try FileStatus.of(BytePath(aside.text + $0)) != nil }
    }

    // MARK: Errors

    /// Whether an error of an open database passes by itself. A disk that is full, or read-only for a while, shows as any
    /// of these.
    package static func passes(_ error: DatabaseError) -> Bool {
        [
            .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_CANTOPEN,
            .SQLITE_READONLY, .SQLITE_PROTOCOL, .SQLITE_ABORT,
        ].contains(error.resultCode)
    }

    /// An error of SQLite as a `Fault`: what passes by itself is transient.
    package static func fault(_ doing: String, _ error: any Error) -> any Error {
        fault(doing, error, passes: passes)
    }

    private static func fault(
        _ doing: String, _ error: any Error, passes: (DatabaseError) -> Bool, path: BytePath? = nil
    ) -> any Error {
        if error is Fault || error is CancellationError { return error }
        guard let error = error as? DatabaseError else { return Fault(.failed, "cannot \(doing): \(explain(error))") }
        let hint = error.resultCode == .SQLITE_FULL ? " (free some space)" : ""
        return Fault(
            passes(error) ? .transient : .failed,
            "cannot \(doing): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")\(hint)", path: path)
    }

    /// What cannot be opened stays so more often than not: SQLite says of a full disk, of one that is read-only for a while,
    /// and of a process with too many open files, that it cannot open or write a file, as it does of much else. So there
    /// the disk and the process themselves are asked.
    private func openingFault(_ doing: String, _ error: any Error) -> any Error {
        Self.fault(
            doing, error,
            passes: { error in
                switch error.resultCode {
                case .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED: true
                case .SQLITE_CANTOPEN where Self.mayBeOpened(path): true
                case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_READONLY:
                    Self.lacksDescriptors || Self.lacksRoom(beside: path) || Self.isReadOnly(beside: path)
                default: false
                }
            }, path: path)
    }

    /// Whether no further file can be opened just now.
    private static var lacksDescriptors: Bool {
        let descriptor = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// Whether nothing about a database's files keeps anybody from opening them. Then a file that could not be opened lacked a
    /// descriptor or memory, though others may have let go of theirs since. They are not opened for this: to close one of
    /// them would drop this process' locks on it.
    private static func mayBeOpened(_ path: BytePath) -> Bool {
        func allows(_ path: BytePath, _ mode: Int32) -> Bool {
            path.withCString { faccessat(AT_FDCWD, $0, mode, AT_EACCESS) } == 0
        }
        guard allows(path.parent, R_OK | W_OK | X_OK) else { return false }
        return ["", "-wal", "-shm"].allSatisfy { suffix in
            let file = BytePath(bytes: path.bytes + Array(suffix.utf8))
            do {
                guard let status = try FileStatus.of(file) else { return true }
                return status.kind == .file && allows(file, R_OK | W_OK)
            } catch {
                return false
            }
        }
    }

    /// Whether the file system is mounted read-only on which a file lies.
    private static func isReadOnly(beside path: BytePath) -> Bool {
        var disk = statvfs()
        guard path.parent.withCString({ statvfs($0, &disk) }) == 0 else { return false }
        return disk.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Whether the disk is full on which a file lies, or as good as full.
    static func lacksRoom(beside path: BytePath) -> Bool {
        var disk = statvfs()
        guard path.parent.withCString({ statvfs($0, &disk) }) == 0 else { return false }
        return disk.f_bavail * disk.f_frsize < 1 << 20 || disk.f_files > 0 && disk.f_favail == 0
    }
}

extension BlockingPool {
    /// Uses a database; an error of SQLite's comes out as ``SQLiteFile/fault(_:_:)`` makes it.
    ///
    /// - Parameter doing: for the message: `search by the index at PATH`.
    package func use<R: Sendable>(
        _ pool: DatabasePool, _ doing: String, _ body: @Sendable (DatabasePool) throws -> R
    ) async throws -> R {
        do {
            return try await run { try body(pool) }
        } catch {
            throw SQLiteFile.fault(doing, error)
        }
    }
}
