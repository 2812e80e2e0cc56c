import OwnFiles
import Platform
import Synchronization

/// What the agent has seen, means to do and has done. One writer; writes that wait together are committed together.
package final class Ledger: Sendable {
    private let database: any LedgerDatabase
    private let refusal = Mutex<String?>(nil)
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

    /// What follows from the loss of a ledger.
    package static let lossHint =
        "Because the ledger was lost, all that was there counts as seen, so that nothing is done twice; `steward rebuild "
        + "--process PLACE` has a place's files dealt with"

    /// Opens or makes `ledger.sqlite` in `directory`, checks its integrity and migrates it. Blocks.
    ///
    /// - Throws: as ``SQLiteDatabase/open(_:lossHint:)``.
    package static func open(directory: BytePath) throws -> (ledger: Ledger, opening: Opening) {
        let file = directory.appending("ledger.sqlite")
        // An empty file is what a crash, or a restore that failed, leaves of one; SQLite would take it for a new one.
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

    /// Opens the ledger for reading only, beside a running agent. Blocks.
    ///
    /// - Returns: nil where there is none yet.
    package static func openForReading(directory: BytePath) throws -> Ledger? {
        let file = directory.appending("ledger.sqlite")
        guard try FileStatus.of(file) != nil else { return nil }
        let names = try HiddenNames(key: directory.appending("names.key"), makesKey: false)
        return Ledger(file: file, database: try SQLiteDatabase.openForReading(file), names: names)
    }

    /// One that is forgotten with the process: for planning without doing.
    package static func inMemory() throws -> Ledger {
        Ledger(file: "", database: try SQLiteDatabase.inMemory(), names: try HiddenNames(key: nil))
    }

    private init(file: BytePath, database: any LedgerDatabase, names: HiddenNames) {
        self.file = file
        self.names = names
        self.database = database
    }

    /// Runs `body` on a snapshot; other reads and writes go on.
    ///
    /// - Throws: what `body` throws; `Fault(.transient)` where the ledger cannot be read just now.
    package func read<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        if BlockingPool.isCurrent(isolation: #isolation) { return try readBlocking(body) }
        return try await database.read { [names] in try body(LedgerTransaction(connection: $0, names: names)) }
    }

    /// As ``read(_:)``, for code that may block.
    package func readBlocking<R>(_ body: (LedgerTransaction) throws -> R) throws -> R {
        Blocking.call()
        return try database.readBlocking { try body(LedgerTransaction(connection: $0, names: names)) }
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

    /// Runs `body` within a transaction that it shares with whatever else waits; returns when that transaction is on the
    /// disk. Where something else in it fails, `body` is run again, after all that it wrote has been taken back: it must
    /// change nothing but the ledger.
    ///
    /// - Throws: what `body` throws, then nothing of it is kept; `Fault(.transient)` where the ledger cannot be
    ///   written just now.
    package func write<R: Sendable>(_ body: @Sendable @escaping (LedgerTransaction) throws -> R) async throws -> R {
        try await write(isDurable: true, body)
    }

    /// The same for what was seen on the disk and can be seen there again: returns when the transaction is committed. It is
    /// on the disk with the next one of ``write(_:)`` or ``writeBlocking(_:)``, and so before any effect that follows from
    /// it; what a power cut takes before is judged once more at the next start.
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

    /// Goes through the one writer, behind all that waits for it. No disk is touched, unless the last write could not be
    /// made: then it is found out whether one can by now, as nobody else may try.
    package func turn() async {
        let mustTry = problem != nil
        // What comes of it is the problem from then on.
        _ = try? await write { if mustTry { try $0.setMeta("tried", Timestamp.now().description) } }
    }

    /// Why the last write could not be made; nil once one has been. Until then nothing that the agent does is kept.
    package var problem: String? { refusal.withLock { $0 } }

    private func refused(_ error: any Error) -> any Error {
        if let fault = error as? Fault, fault.path == file, fault.kind == .transient {
            refusal.withLock { $0 = fault.message }
        }
        return error
    }

    /// Whether so much was written that ``checkpointAtRest()`` is to be called when no job is to be carried out.
    package var needsCheckpoint: Bool { database.needsCheckpoint }

    /// Makes a checkpoint as soon as nobody writes for a moment, so that the next writes take less time.
    package func checkpointAtRest() async { await database.checkpointAtRest() }

    /// Writes a copy of the ledger in place of an earlier copy, which stays until the new one is whole. Reads and writes go on
    /// meanwhile, however long it takes.
    package func backUp(replacing target: BytePath) async throws { try await database.backUp(replacing: target) }

    /// Closes it, with all that was written in its one file, so that whoever copies the file has everything. Blocks.
    package func close() throws { try database.close() }
}
