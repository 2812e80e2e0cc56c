import Dispatch
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import SQLiteFile
import Synchronization

/// What the agent has seen, means to do and has done, in SQLite. One writer; writes that wait together are committed together.
package final class Ledger: Sendable {
    private let pool: any DatabaseWriter
    private let grouped: GroupedWrites
    /// Nil where reading needs no connections of its own.
    private let readers: DatabaseReaders?
    private let refusal = Mutex<String?>(nil)
    private let folding = Mutex(Folding())
    private let releasing = Mutex<Task<Void, Never>?>(nil)
    /// Writes so far, and how many of them there were when the log was folded at rest.
    private let written = Atomic<Int>(0)
    private let folded = Atomic<Int>(0)
    package let file: BytePath
    /// Which names stand in the ledger as keyed hashes.
    package let names: HiddenNames
    /// Who is told of what becomes due.
    package let due = DueWatch()
    /// Told of questions to a person.
    package let questions = QuestionWatch()

    /// How a ledger came to be opened.
    package enum Opening: Sendable, Equatable {
        case existing
        case new
        /// The old one failed its integrity check and was renamed to this; the new one is empty.
        case corrupt(setAside: BytePath)
    }

    /// Opens or makes `ledger.sqlite` in `directory`, checks its integrity and migrates it. Blocks.
    ///
    /// - Throws: as ``SQLiteFile/open(now:)``.
    package static func open(directory: BytePath) throws -> (ledger: Ledger, opening: Opening) {
        let file = directory.appending("ledger.sqlite")
        // An empty file is what a crash, or a restore that failed, leaves of one; SQLite would take it for a new one.
        let existed = try [file, BytePath(bytes: file.bytes + Array("-wal".utf8))].contains {
            try FileStatus.of($0)?.size ?? 0 > 0
        }
        let names = try HiddenNames(key: directory.appending("names.key"))
        let database = database(file)
        let opened = try database.open(now: Timestamp.now())
        try names.renewSealedTexts(opened.pool)
        let ledger = Ledger(
            file: file, pool: opened.pool, readers: try database.readers(mostReaders), names: names)
        return (ledger, opened.loss?.aside.map { .corrupt(setAside: $0) } ?? (existed ? .existing : .new))
    }

    /// What follows from the loss of a ledger.
    package static let lossHint =
        "Because the ledger was lost, all that was there counts as seen, so that nothing is done twice; `steward rebuild "
        + "--process PLACE` has a place's files dealt with"

    /// How many threads may read at a time.
    private static let mostReaders = 4

    /// Bytes that the log may have before it is folded into the file: 16 MiB, or an eighth of a disk below 128 MiB. Blocks.
    private static func longestLog(_ file: BytePath) -> Int {
        let most = 16 << 20
        var disk = statvfs()
        guard file.parent.withCString({ statvfs($0, &disk) }) == 0 else { return most }
        return max(256 << 10, min(most, Int(disk.f_blocks) * Int(disk.f_frsize) / 8))
    }

    private static func database(_ file: BytePath) -> SQLiteFile {
        let logBytes = longestLog(file)
        return SQLiteFile(
            file, of: "the ledger", migrator: Migrations.migrator(),
            settings: [
                // Readers' pages are the kernel's to keep; SQLite itself would take 2 MB for each of five connections.
                "cache_size = -512"
            ],
            // What the writer cannot hold of a transaction that many share, it writes to the log and reads back, page by
            // page.
            writerSettings: [
                "cache_size = -4096",
                // A burst's commits are of hundreds of pages, mostly the same ones: folded into the file after each, as
                // they would be by itself, every page would be written twice.
                "wal_autocheckpoint = \(logBytes / 4_096)",
                // What a long reader has made it grow beyond that is given back.
                "journal_size_limit = \(logBytes)",
                // What a savepoint may have to take back would go to temporary files, four times as much as to the log.
                "temp_store = MEMORY",
            ],
            // Who may block has readers of its own.
            poolReaders: 2,
            whenCorrupt: .setAside(LossRegistry([file.parent]), hint: lossHint))
    }

    /// Opens the ledger for reading only, beside a running agent.
    ///
    /// - Returns: nil where there is none yet.
    package static func openForReading(directory: BytePath) throws -> Ledger? {
        let file = directory.appending("ledger.sqlite")
        guard try FileStatus.of(file) != nil else { return nil }
        let names = try HiddenNames(key: directory.appending("names.key"), makesKey: false)
        return Ledger(file: file, pool: try database(file).openForReading(), readers: nil, names: names)
    }

    /// One that is forgotten with the process: for planning without doing.
    package static func inMemory() throws -> Ledger {
        let queue = try DatabaseQueue()
        try Migrations.migrator().migrate(queue)
        return Ledger(file: "", pool: queue, readers: nil, names: try HiddenNames(key: nil))
    }

    private init(file: BytePath, pool: any DatabaseWriter, readers: DatabaseReaders?, names: HiddenNames) {
        self.file = file
        self.names = names
        self.pool = pool
        self.readers = readers
        grouped = GroupedWrites(pool)
    }

    /// Runs `body` on a snapshot; other reads and writes go on.
    ///
    /// - Throws: what `body` throws; `Fault(.transient)` where the ledger cannot be read just now.
    package func read<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        if BlockingThreads.current(isolation: #isolation) != nil { return try readBlocking(body) }
        do {
            return try await pool.read { [names] in try body(LedgerTransaction(db: $0, names: names)) }
        } catch {
            throw told(error, "read")
        }
    }

    /// As ``read(_:)``, for code that may block.
    package func readBlocking<R>(_ body: (LedgerTransaction) throws -> R) throws -> R {
        Blocking.call()
        do {
            if let readers { return try readers.read { try body(LedgerTransaction(db: $0, names: names)) } }
            return try pool.read { try body(LedgerTransaction(db: $0, names: names)) }
        } catch {
            throw told(error, "read")
        }
    }

    /// Runs `body` in a transaction of its own and blocks until it is on the disk: for the few places that must commit
    /// between two system calls.
    ///
    /// - Throws: what `body` throws; `Fault(.transient)` where the ledger cannot be written just now. Nothing of it is
    ///   kept then.
    package func writeBlocking<R>(_ body: (LedgerTransaction) throws -> R) throws -> R {
        Blocking.call()
        do {
            let notice = DueNotice(due)
            let (result, isWritten) = try pool.write { db in
                try Self.counting(db) { try body(LedgerTransaction(db: db, names: names, notice: notice)) }
            }
            FaultPoint.reach("committed")
            if isWritten { accepted() }
            notice.deliver()
            foldIfForgotten()
            return result
        } catch {
            throw refused(told(error, "commit to"))
        }
    }

    /// Runs `body` within a transaction that it shares with whatever else waits; returns when that transaction is on the
    /// disk. Where something else in it fails, `body` is run again, after all that it wrote has been taken back: it must
    /// change nothing but the ledger.
    ///
    /// - Throws: what `body` throws, then nothing of it is kept; `Fault(.transient)` where the ledger cannot be
    ///   written just now.
    package func write<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        try await write(.now, body)
    }

    /// The same for what was seen on the disk and can be seen there again: returns when the transaction is committed. It is
    /// on the disk with the next one of ``write(_:)`` or ``writeBlocking(_:)``, and so before any effect that follows from
    /// it; what a power cut takes before is judged once more at the next start.
    ///
    /// - Throws: as ``write(_:)``.
    package func writeSeen<R: Sendable>(
        _ body: @Sendable @escaping (LedgerTransaction) throws -> R
    ) async throws -> R {
        try await write(.later, body)
    }

    private func write<R: Sendable>(
        _ durability: GroupedWrites.Durability, _ body: @Sendable @escaping (LedgerTransaction) throws -> R
    ) async throws -> R {
        do {
            let notice = DueNotice(due)
            let (result, isWritten) = try await grouped.write(durability) { [names] db in
                try Self.counting(db) { try body(LedgerTransaction(db: db, names: names, notice: notice)) }
            }
            if isWritten { accepted() }
            notice.deliver()
            foldIfForgotten()
            return result
        } catch let failure as CommitFailure {
            throw refused(Fault(.transient, "cannot commit to the ledger \(file): \(failure.cause)", path: file))
        } catch {
            throw refused(told(error, "commit to"))
        }
    }

    /// Also says whether anything was written: a full disk takes a transaction with nothing in it.
    private static func counting<R>(_ db: Database, _ body: () throws -> R) rethrows -> (R, isWritten: Bool) {
        let before = db.totalChangesCount
        let result = try body()
        return (result, db.totalChangesCount > before)
    }

    /// Goes through the one writer, behind all that waits for it. No disk is touched, unless the last write could not be
    /// made: then it is found out whether one can by now, as nobody else may try.
    package func turn() async {
        let mustTry = problem != nil
        // What comes of it is the problem from then on.
        _ = try? await write { if mustTry { try $0.setMeta("tried", Timestamp.now().description) } }
    }

    /// Why the last write could not be made; nil once one has been. Until then nothing that the agent does is kept.
    package var problem: String? { refusal.withLock { $0 } }

    private func accepted() {
        written.add(1, ordering: .relaxed)
        refusal.withLock { $0 = nil }
    }

    private func refused(_ error: any Error) -> any Error {
        if let fault = error as? Fault, fault.path == file, fault.kind == .transient {
            refusal.withLock { $0 = fault.message }
        }
        return error
    }

    /// SQLite's error as the callers know errors: what passes by itself, such as a full disk, is to be tried again.
    private func told(_ error: any Error, _ doing: String) -> any Error {
        guard let error = error as? DatabaseError, SQLiteFile.passes(error) else { return error }
        return Fault(.transient, "cannot \(doing) the ledger \(file): \(error)", path: file)
    }

    /// What the tables have forgotten of hidden files stands in the log until that is folded into the file. Under load it
    /// is done once for many.
    private func foldIfForgotten() {
        guard names.consumeForgotten() else { return }
        let mustFold = folding.withLock { state in
            state.wanted = .truncate
            return state.claims()
        }
        if mustFold { Task { await self.fold() } }
        releaseStatements()
    }

    /// Statements that are kept for the next time keep the values of the last one: names and contents of what has been forgotten.
    /// They go a moment after the last of it, when what follows from a file's removal has been read as well.
    private func releaseStatements() {
        let pool = pool
        let readers = readers
        let next = Task {
            do { try await Task.sleep(for: Self.whileItIsRead) } catch { return }
            (pool as? DatabasePool)?.releaseMemoryEventually()
            // One that could not be closed is not used again either.
            _ = try? await BlockingLane("ledger.release").run { try readers?.release() }
        }
        releasing.withLock { pending in
            pending?.cancel()
            pending = next
        }
    }

    private static let whileItIsRead = Duration.seconds(1)

    /// From so many writes on the log is worth folding; of writes that come one by one that is some megabytes.
    private static let long = 64
    /// For so long nobody must have written when it is folded at rest.
    private static let rest = Duration.milliseconds(20)

    /// Whether there is much in the log: then ``foldAtRest()`` is to be called when no job is to be carried out.
    package var isLogLong: Bool {
        written.load(ordering: .relaxed) - folded.load(ordering: .relaxed) >= Self.long
    }

    /// Folds the log into the file as soon as nobody writes for a moment, so that the next writes go over what it holds: a
    /// disk syncs them in two thirds of the time that it takes for a log that grows. Under load that is done after thousands
    /// of pages alone.
    package func foldAtRest() async {
        guard folding.withLock({ $0.beginsToRest() }) else { return }
        defer { folding.withLock { $0.isResting = false } }
        // Who asks meanwhile is served by this, so it must not give up.
        var before: Int
        repeat {
            before = written.load(ordering: .relaxed)
            guard (try? await Task.sleep(for: Self.rest)) != nil else { return }
        } while written.load(ordering: .relaxed) != before
        folded.store(before, ordering: .relaxed)
        let mustFold = folding.withLock { state in
            state.wanted = state.wanted ?? .passive
            return state.claims()
        }
        if mustFold { await fold() }
    }

    private func fold() async {
        while let mode = folding.withLock({ $0.begins() }) {
            // Whoever reads meanwhile may keep the log from being emptied; the next time, or the end, does it.
            _ = try? await pool.writeWithoutTransaction { [self] db in
                if !folding.withLock(\.isClosed) { try db.checkpoint(mode) }
            }
        }
    }

    private struct Folding {
        /// `truncate` for a log that must hold nothing any more; nil for none.
        var wanted: Database.CheckpointMode?
        var isRunning = false
        /// Somebody waits whether it is at rest.
        var isResting = false
        /// SQLite must not be asked to fold what is closed.
        var isClosed = false
        /// While the ledger is copied its log cannot be emptied; who tried would keep the writer waiting.
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

    /// Writes a copy of the ledger (VACUUM INTO) in place of an earlier copy, which stays until the new one is whole. Reads
    /// and writes go on meanwhile, however long it takes.
    package func backUp(replacing target: BytePath) async throws {
        let temporary = BytePath(target.text + ".new")
        let lane = BlockingLane("ledger.backup")
        let file = file
        let source = try await lane.run {
            try Durable.remove(temporary)
            // VACUUM INTO takes an empty file, and leaves it its mode.
            try PrivateDatabase.prepare(temporary)
            return try Self.database(file).reader()
        }
        folding.withLock { $0.isCopying = true }
        defer {
            let mustFold = folding.withLock { state in
                state.isCopying = false
                return state.claims()
            }
            if mustFold { Task { await self.fold() } }
        }
        try await source.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary.text]) }
        try await lane.run {
            try source.close()
            try Descriptor(temporary).sync()
            guard rename(temporary.text, target.text) == 0 else { throw Fault.system("replace", target) }
            try Durable.syncDirectory(target.parent)
        }
    }

    /// Folds the log into the file, so that whoever copies the file has everything, and closes.
    package func close() throws {
        try readers?.close()
        _ = try pool.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            folding.withLock { $0.isClosed = true }
        }
        try pool.close()
    }
}

/// The ledger's tables within one transaction; its methods stand beside the records they are about. Blocks.
package struct LedgerTransaction {
    let db: Database
    /// Paths of hidden files are clear in records, and tokens in the tables.
    package let names: HiddenNames
    /// Of what it writes that becomes due; nil where it only reads.
    var notice: DueNotice?

    /// A statement that is compiled once for a connection, not once for a call.
    func cached(_ sql: String) throws -> Statement { try db.cachedStatement(sql: sql) }

    func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try cached(sql).execute(arguments: arguments)
    }

    /// What the first row gives, read where it stands: a row that is kept takes the names of its columns along, each time.
    func first<R>(_ sql: String, _ arguments: StatementArguments, _ body: (Row) throws -> R) throws -> R? {
        let rows = try Row.fetchCursor(cached(sql), arguments: arguments)
        // The row is there for as long as its cursor is.
        return try withExtendedLifetime(rows) { try rows.next().map(body) }
    }

    /// What each row gives, read where it stands.
    func all<R>(_ sql: String, _ arguments: StatementArguments, _ body: (Row) throws -> R) throws -> [R] {
        let rows = try Row.fetchCursor(cached(sql), arguments: arguments)
        var found: [R] = []
        while let row = try rows.next() { found.append(try body(row)) }
        return found
    }

    /// A lasting setting of the agent: `paused`, `created`.
    package func meta(_ key: String) throws -> String? {
        try String.fetchOne(cached("SELECT value FROM meta WHERE key = ?"), arguments: [key])
    }

    /// Those that begin so.
    package func metaKeys(_ start: String) throws -> [String] {
        try String.fetchAll(
            cached("SELECT key FROM meta WHERE substr(key, 1, length(?1)) = ?1"), arguments: [start])
    }

    /// Sets or, with nil, removes it.
    package func setMeta(_ key: String, _ value: String?) throws {
        if let value {
            try execute(sql: "INSERT OR REPLACE INTO meta VALUES (?, ?)", arguments: [key, value])
        } else {
            try execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [key])
        }
    }
}
