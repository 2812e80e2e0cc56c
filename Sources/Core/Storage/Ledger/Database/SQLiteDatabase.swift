import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import SQLiteFile
import Synchronization

/// A ledger in an SQLite file with a write-ahead log.
final class SQLiteDatabase: LedgerDatabase {
    private let file: BytePath
    private let pool: any DatabaseWriter
    private let grouped: GroupedWrites
    /// Connections for threads that may block; nil if they read through `pool`.
    private let readers: DatabaseReaders?
    private let checkpoints = Mutex(Checkpoints())
    private let releasing = Mutex<Task<Void, Never>?>(nil)
    /// Writes so far, and as of the last checkpoint at rest.
    private let written = Atomic<Int>(0)
    private let checkpointed = Atomic<Int>(0)

    /// How many threads may read concurrently.
    private static let mostReaders = 4
    /// How long without a write before a checkpoint at rest.
    private static let rest = Duration.milliseconds(20)
    /// How many writes make a checkpoint at rest worthwhile: some megabytes, if written one at a time.
    private static let manyWrites = 64
    /// How long the work that follows a deletion may still read the deleted values, at most.
    private static let whileItIsRead = Duration.seconds(1)

    private init(file: BytePath, pool: any DatabaseWriter, readers: DatabaseReaders? = nil) {
        self.file = file
        self.pool = pool
        self.readers = readers
        grouped = GroupedWrites(pool)
    }

    // MARK: Opening

    /// Opens or creates a database, checks its integrity and migrates it. Blocks.
    ///
    /// - Parameter lossHint: the consequences of its loss, for the registry of losses.
    /// - Returns: the database, and the new path of a corrupt one that was set aside.
    /// - Throws: as ``SQLiteFile/open(now:)``.
    static func open(_ file: BytePath, lossHint: String) throws -> (database: SQLiteDatabase, setAside: BytePath?) {
        let source = source(file, lossHint: lossHint)
        let opened = try source.open(now: Timestamp.now())
        let database = SQLiteDatabase(file: file, pool: opened.pool, readers: try source.readers(mostReaders))
        return (database, opened.loss?.aside)
    }

    /// Opens a database read-only, beside its writer. One from an older version is left unchanged, and read from a
    /// migrated copy in the same folder, which has no name there and disappears when it is closed. Blocks.
    static func openForReading(_ file: BytePath) throws -> SQLiteDatabase {
        let database = SQLiteDatabase(file: file, pool: try source(file).openForReading())
        let migrator = Migrations.migrator()
        do {
            if try database.pool.read(migrator.hasCompletedMigrations) { return database }
        } catch {
            throw database.told(error, "read")
        }
        do {
            var configuration = Configuration()
            configuration.qos = .default
            configuration.prepareDatabase {
                // Not /var/tmp, which may be small, or on a less protected disk. Holds for the whole process.
                let folder = file.parent.text.quotedDatabaseIdentifier
                try $0.execute(sql: "PRAGMA temp_store_directory = \(folder)")
            }
            // Without a path, SQLite uses an unlinked temporary file.
            let copy = try DatabaseQueue(path: "", configuration: configuration)
            try database.pool.backup(to: copy)
            try migrator.migrate(copy)
            return SQLiteDatabase(file: file, pool: copy)
        } catch {
            throw Fault(
                .failed,
                "the ledger \(file) is of an older version, and is read from a copy until the agent has been started: "
                    + "the copy failed (\(error)); free some space in \(file.parent), or start the agent", path: file)
        }
    }

    /// A database in memory.
    static func inMemory() throws -> SQLiteDatabase {
        let queue = try DatabaseQueue()
        try Migrations.migrator().migrate(queue)
        return SQLiteDatabase(file: "", pool: queue)
    }

    private static func source(_ file: BytePath, lossHint: String = "") -> SQLiteFile {
        let logBytes = longestLog(file)
        return SQLiteFile(
            file, of: "the ledger", migrator: Migrations.migrator(),
            settings: [
                // Leave caching of readers' pages to the kernel; SQLite would take 2 MB for each of five connections.
                "cache_size = -512"
            ],
            // The part of a large shared transaction that exceeds the cache is written to the log and read back page by
            // page.
            writerSettings: [
                "cache_size = -4096",
                // A burst's commits have hundreds of pages, mostly the same ones: a checkpoint after each, as is the
                // default, would write every page twice.
                "wal_autocheckpoint = \(logBytes / 4_096)",
                // Give back the log's growth caused by a long-running reader.
                "journal_size_limit = \(logBytes)",
                // Savepoint journals in temporary files would be four times the size of the log.
                "temp_store = MEMORY",
            ],
            // Callers that may block have their own readers.
            poolReaders: 2,
            whenCorrupt: .setAside(LossRegistry([file.parent]), hint: lossHint))
    }

    /// The log's size in bytes that triggers a checkpoint: 16 MiB, or an eighth of a disk below 128 MiB. Blocks.
    private static func longestLog(_ file: BytePath) -> Int {
        let most = 16 << 20
        var disk = statvfs()
        guard file.parent.withCString({ statvfs($0, &disk) }) == 0 else { return most }
        return max(256 << 10, min(most, Int(disk.f_blocks) * Int(disk.f_frsize) / 8))
    }

    // MARK: Transactions

    func read<R: Sendable>(_ body: @Sendable @escaping (any SQLConnection) throws -> R) async throws -> R {
        do {
            return try await pool.read { try body($0) }
        } catch {
            throw told(error, "read")
        }
    }

    func readBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        do {
            if let readers { return try readers.read { try body($0) } }
            return try pool.read { try body($0) }
        } catch {
            throw told(error, "read")
        }
    }

    func write<R: Sendable>(
        isDurable: Bool, _ body: @Sendable @escaping (any SQLConnection) throws -> R
    ) async throws -> (result: R, isWritten: Bool) {
        do {
            return try await grouped.write(isDurable ? .now : .later) { [self] in try counting($0, body) }
        } catch let failure as CommitFailure {
            throw Fault(.transient, "cannot commit to the ledger \(file): \(failure.cause)", path: file)
        } catch {
            throw told(error, "commit to")
        }
    }

    func writeBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> (result: R, isWritten: Bool) {
        do {
            return try pool.write { try counting($0, body) }
        } catch {
            throw told(error, "commit to")
        }
    }

    private func counting<R>(
        _ db: Database, _ body: (any SQLConnection) throws -> R
    ) rethrows -> (result: R, isWritten: Bool) {
        let before = db.totalChangesCount
        let result = try body(db)
        let isWritten = db.totalChangesCount > before
        if isWritten { written.add(1, ordering: .relaxed) }
        return (result, isWritten)
    }

    private func told(_ error: any Error, _ doing: String) -> any Error {
        guard let error = error as? DatabaseError, SQLiteFile.passes(error) else { return error }
        return Fault(.transient, "cannot \(doing) the ledger \(file): \(error)", path: file)
    }

    // MARK: Checkpoints

    /// Deleted values remain in the log until a checkpoint, and cached statements keep the values last bound.
    func eraseDeleted() {
        checkpoint(.truncate)
        let pool = pool
        let readers = readers
        let next = Task {
            do { try await Task.sleep(for: Self.whileItIsRead) } catch { return }
            (pool as? DatabasePool)?.releaseMemoryEventually()
            // A connection that failed to close is not reused either.
            _ = try? await BlockingPool("ledger.release").run { try readers?.release() }
        }
        releasing.withLock { pending in
            pending?.cancel()
            pending = next
        }
    }

    var needsCheckpoint: Bool {
        written.load(ordering: .relaxed) - checkpointed.load(ordering: .relaxed) >= Self.manyWrites
    }

    /// After a checkpoint, writes reuse the log from its start, and a sync takes two thirds of the time that it takes
    /// for a growing log. Under load, checkpoints come only after thousands of pages.
    func checkpointAtRest() async {
        guard checkpoints.withLock({ $0.beginsToRest() }) else { return }
        defer { checkpoints.withLock { $0.isResting = false } }
        // Must not give up: it also serves those who ask in the meantime.
        var before: Int
        repeat {
            before = written.load(ordering: .relaxed)
            guard (try? await Task.sleep(for: Self.rest)) != nil else { return }
        } while written.load(ordering: .relaxed) != before
        checkpointed.store(before, ordering: .relaxed)
        let mustRun = checkpoints.withLock { state in
            state.wanted = state.wanted ?? .passive
            return state.claims()
        }
        if mustRun { await runCheckpoints() }
    }

    /// Under load, one checkpoint serves many requests.
    private func checkpoint(_ mode: Database.CheckpointMode) {
        let mustRun = checkpoints.withLock { state in
            state.wanted = mode
            return state.claims()
        }
        if mustRun { Task { await self.runCheckpoints() } }
    }

    private func runCheckpoints() async {
        while let mode = checkpoints.withLock({ $0.begins() }) {
            // An active reader may prevent emptying the log; the next checkpoint, or closing, does it then.
            _ = try? await pool.writeWithoutTransaction { [self] db in
                if !checkpoints.withLock(\.isClosed) { try db.checkpoint(mode) }
            }
        }
    }

    private struct Checkpoints {
        /// `truncate` if the log must be emptied; nil if no checkpoint is wanted.
        var wanted: Database.CheckpointMode?
        var isRunning = false
        /// A task is already waiting for writes to cease.
        var isResting = false
        /// A closed database gets no checkpoints.
        var isClosed = false
        /// During a copy the log cannot be emptied; an attempt would block the writer.
        var isCopying = false

        mutating func beginsToRest() -> Bool {
            defer { isResting = true }
            return !isResting
        }

        mutating func claims() -> Bool {
            guard wanted != nil, !isRunning, !isCopying else { return false }
            isRunning = true
            return true
        }

        mutating func begins() -> Database.CheckpointMode? {
            isRunning = wanted != nil && !isCopying
            guard isRunning else { return nil }
            defer { wanted = nil }
            return wanted
        }
    }

    // MARK: Keeping

    /// Uses VACUUM INTO.
    func backUp(replacing target: BytePath) async throws {
        let temporary = BytePath(target.text + ".new")
        let threads = BlockingPool("ledger.backup")
        let file = file
        let source = try await threads.run {
            try Durable.remove(temporary)
            // VACUUM INTO accepts an empty file and keeps its mode.
            try PrivateDatabase.prepare(temporary)
            return try Self.source(file).reader()
        }
        checkpoints.withLock { $0.isCopying = true }
        defer {
            let mustRun = checkpoints.withLock { state in
                state.isCopying = false
                return state.claims()
            }
            if mustRun { Task { await self.runCheckpoints() } }
        }
        try await source.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary.text]) }
        try await threads.run {
            try source.close()
            try Descriptor(temporary).sync()
            guard rename(temporary.text, target.text) == 0 else { throw Fault.system("replace", target) }
            try Durable.syncDirectory(target.parent)
        }
    }

    /// Checkpoints the log into the file, so that a copy of the file is complete.
    func close() throws {
        try readers?.close()
        _ = try pool.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            checkpoints.withLock { $0.isClosed = true }
        }
        try pool.close()
    }
}

/// Compiles statements once per connection instead of once per call.
extension Database: SQLConnection {
    package func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        do {
            try cachedStatement(sql: sql).execute(arguments: Self.bound(arguments))
            return changesCount
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            throw SQLUniqueViolation()
        }
    }

    package func query(
        _ sql: String, _ arguments: [any SQLConvertible], _ body: (any SQLRow) throws -> Bool
    ) throws {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: Self.bound(arguments))
        // Read rows in place: a copied row carries its column names along.
        while let row = try rows.next(), try body(row) {}
    }

    private static func bound(_ arguments: [any SQLConvertible]) -> StatementArguments {
        StatementArguments(
            arguments.map { argument -> DatabaseValue in
                switch argument.sqlValue {
                case .null: .null
                case .integer(let number): number.databaseValue
                case .text(let text): text.databaseValue
                case .blob(let bytes): Data(bytes).databaseValue
                }
            })
    }
}

extension Row: SQLRow {
    package func value(_ column: String) throws -> SQLValue {
        guard hasColumn(column) else { throw Fault(.failed, "the ledger has no column \(column)") }
        return try sqlValue(self[column], column)
    }

    package func value(at index: Int) throws -> SQLValue {
        guard index < count else { throw Fault(.failed, "the ledger has no column \(index)") }
        return try sqlValue(self[index], "\(index)")
    }

    private func sqlValue(_ value: DatabaseValue, _ column: String) throws -> SQLValue {
        switch value.storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .string(let text): .text(text)
        case .blob(let data): .blob(Array(data))
        case .double: throw Fault(.failed, "the ledger's column \(column) has a number that is not whole")
        }
    }
}
