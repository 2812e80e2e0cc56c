import OwnFiles
import Platform
import Synchronization

/// What the agent has seen, intends to do and has done. There is one writer, and writes that are pending together are
/// committed together.
package final class Ledger: Sendable {
    private let database: any LedgerDatabase
    private let refusal = Mutex<String?>(nil)
    package let file: BytePath
    /// Which names the ledger stores as keyed hashes.
    package let names: HiddenNames
    /// Notifies when something becomes due.
    package let due = DueWatch()
    /// Notifies about questions to a person.
    package let questions = QuestionWatch()

    /// How a ledger was opened.
    package enum Opening: Sendable, Equatable {
        case existing
        case new
        /// The old ledger failed its integrity check and was renamed to this; the new one is empty.
        case corrupt(setAside: BytePath)
    }

    /// The consequences of losing a ledger, for messages.
    package static let lossHint =
        "Because the ledger was lost, all existing files count as seen, so that nothing is done twice; `steward rebuild "
        + "--process PLACE` processes a place's files"

    /// Opens or creates `ledger.sqlite` in `directory`, checks its integrity and migrates it. Blocks.
    ///
    /// - Throws: as ``SQLiteDatabase/open(_:lossHint:)``.
    package static func open(directory: BytePath) throws -> (ledger: Ledger, opening: Opening) {
        let file = directory.appending("ledger.sqlite")
        // A crash or a failed restore can leave an empty file, which SQLite would take for a new database.
        let existed = try [file, BytePath(bytes: file.bytes + Array("-wal".utf8))].contains {
            try FileStatus.of($0)?.size ?? 0 > 0
        }
        let names = try HiddenNames(key: directory.appending("names.key"))
        let (database, aside) = try SQLiteDatabase.open(file, lossHint: lossHint)
        if names.hasKey {
            _ = try database.writeBlocking { try LedgerTransaction(connection: $0, names: names).renewSealedTexts() }
        }
        let ledger = Ledger(file: file, database: database, names: names)
        return (ledger, aside.map { .corrupt(setAside: $0) } ?? (existed ? .existing : .new))
    }

    /// Opens the ledger read-only, beside a running agent. Blocks.
    ///
    /// - Returns: nil if there is no ledger yet.
    package static func openForReading(directory: BytePath) throws -> Ledger? {
        let file = directory.appending("ledger.sqlite")
        guard try FileStatus.of(file) != nil else { return nil }
        let names = try HiddenNames(key: directory.appending("names.key"), makesKey: false)
        return Ledger(file: file, database: try SQLiteDatabase.openForReading(file), names: names)
    }

    /// A ledger in memory, for planning without executing.
    package static func inMemory() throws -> Ledger {
        Ledger(file: "", database: try SQLiteDatabase.inMemory(), names: try HiddenNames(key: nil))
    }

    private init(file: BytePath, database: any LedgerDatabase, names: HiddenNames) {
        self.file = file
        self.names = names
        self.database = database
    }

    /// Runs `body` on a snapshot, concurrently with other reads and writes.
    ///
    /// - Throws: any error of `body`; `Fault(.transient)` if the ledger cannot be read at the moment.
    package func read<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        if BlockingPool.isCurrent(isolation: #isolation) { return try readBlocking(body) }
        return try await database.read { [names] in try body(LedgerTransaction(connection: $0, names: names)) }
    }

    /// Like ``read(_:)``, for code that may block.
    package func readBlocking<R>(_ body: (LedgerTransaction) throws -> R) throws -> R {
        Blocking.call()
        return try database.readBlocking { try body(LedgerTransaction(connection: $0, names: names)) }
    }

    /// Runs `body` in its own transaction and blocks until that is on disk: for the few places that must commit between
    /// two system calls.
    ///
    /// - Throws: any error of `body`; `Fault(.transient)` if the ledger cannot be written at the moment. Either way the
    ///   transaction is rolled back.
    package func writeBlocking<R>(_ body: (LedgerTransaction) throws -> R) throws -> R {
        Blocking.call()
        do {
            let notice = DueNotice(due)
            let (result, isWritten) = try database.writeBlocking {
                try body(LedgerTransaction(connection: $0, names: names, notice: notice))
            }
            FaultPoint.reach("committed")
            committed(isWritten, notice)
            return result
        } catch {
            throw refused(error)
        }
    }

    /// Runs `body` in a transaction shared with other pending writes; returns once that is on disk. If another write in
    /// it fails, `body` is rolled back and run again, so it must change nothing but the ledger.
    ///
    /// - Throws: any error of `body`, after rolling it back; `Fault(.transient)` if the ledger cannot be written at the
    ///   moment.
    package func write<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        try await write(isDurable: true, body)
    }

    /// Like ``write(_:)``, for observations that can be repeated: returns once the transaction is committed. It reaches
    /// the disk with the next ``write(_:)`` or ``writeBlocking(_:)``, and so before any effect based on it. If a power
    /// cut loses it, the next start judges the file again.
    ///
    /// - Throws: as ``write(_:)``.
    package func writeSeen<R: Sendable>(
        _ body: @Sendable @escaping (LedgerTransaction) throws -> R
    ) async throws -> R {
        try await write(isDurable: false, body)
    }

    private func write<R: Sendable>(
        isDurable: Bool, _ body: @Sendable @escaping (LedgerTransaction) throws -> R
    ) async throws -> R {
        do {
            let notice = DueNotice(due)
            let (result, isWritten) = try await database.write(isDurable: isDurable) { [names] in
                try body(LedgerTransaction(connection: $0, names: names, notice: notice))
            }
            committed(isWritten, notice)
            return result
        } catch {
            throw refused(error)
        }
    }

    private func committed(_ isWritten: Bool, _ notice: DueNotice) {
        if isWritten { refusal.withLock { $0 = nil } }
        notice.deliver()
        if names.consumeForgotten() { database.eraseDeleted() }
    }

    /// Waits for its turn with the writer, behind everything queued. Touches no disk unless the last write failed; then
    /// it tries one, since nothing else may.
    package func turn() async {
        let mustTry = problem != nil
        // Its outcome becomes the new `problem`.
        _ = try? await write { if mustTry { try $0.setMeta("tried", Timestamp.now().description) } }
    }

    /// Why the last write failed; nil after one has succeeded. Until then, nothing the agent does is recorded.
    package var problem: String? { refusal.withLock { $0 } }

    private func refused(_ error: any Error) -> any Error {
        if let fault = error as? Fault, fault.path == file, fault.kind == .transient {
            refusal.withLock { $0 = fault.message }
        }
        return error
    }

    /// Whether enough was written that ``checkpointAtRest()`` should be called once no job is running.
    package var needsCheckpoint: Bool { database.needsCheckpoint }

    /// Makes a checkpoint as soon as there are no writes for a moment, which makes the next writes faster.
    package func checkpointAtRest() async { await database.checkpointAtRest() }

    /// Copies the ledger over an earlier copy, which stays until the new one is complete. Reads and writes continue in
    /// the meantime, however long it takes.
    package func backUp(replacing target: BytePath) async throws { try await database.backUp(replacing: target) }

    /// Closes the ledger with everything in its one file, so that a copy of the file is complete. Blocks.
    package func close() throws { try database.close() }
}
