import GRDB
import Platform
import Synchronization

/// Writes that wait together are committed together: one transaction, and one sync of the disk, for all of them. Each is
/// answered when the transaction is on the disk, or, where it need not be there yet, when it is committed.
///
/// One that fails takes nothing of the others along. Until one does there are no savepoints: for each of them SQLite keeps a
/// copy of every page that is changed in it, some fifty for a file with three steps. Where one of many fails, all are taken
/// back and run again, each in a savepoint of its own.
package final class GroupedWrites: Sendable {
    /// When a write is on the disk, where no power cut takes it away any more. To other readers and writers, and after a
    /// crash of the process alone, it is there when it returns, however that is.
    package enum Durability: Sendable {
        /// When it returns.
        case now
        /// When the next one that has to be there at its return has returned, or the log is folded into the file: the log
        /// is written and synced from its front to its end. For what can be found out again.
        case later
    }

    private struct Waiting {
        var writes: [any PendingWrite] = []
        var draining = false
    }

    private let database: any DatabaseWriter
    private let waiting = Mutex(Waiting())

    private static let most = 1024
    /// So many are committed without a sync, where none of them has to be on the disk: more are a burst.
    private static let few = 2
    /// How many batches whoever wrote first commits for others.
    private static let batchesForOthers = 4

    package init(_ database: any DatabaseWriter) { self.database = database }

    /// Runs `body` within a transaction that it shares with whatever else waits; returns when that is on the disk. `body`
    /// runs on another thread, unless the caller's may block.
    ///
    /// - Parameters:
    ///   - durability: when it has to be on the disk; it may be there earlier, for the sake of another.
    ///   - body: may be run again, after all that it wrote has been taken back; what it gives, or throws, the last time
    ///     counts.
    /// - Throws: what `body` throws, then nothing of it is kept; ``CommitFailure`` where the transaction was not
    ///   committed.
    package func write<R: Sendable>(
        _ durability: Durability = .now, _ body: @Sendable @escaping (Database) throws -> R
    ) async throws -> R {
        let mayBlock = BlockingPool.isCurrent(isolation: #isolation)
        return try await withCheckedThrowingContinuation { continuation in
            let write = TypedWrite(durability, body: body, continuation: continuation)
            let mustDrain = waiting.withLock { state in
                state.writes.append(write)
                defer { state.draining = true }
                return !state.draining
            }
            if mustDrain { if mayBlock { drainHere() } else { Task { await self.drain() } } }
        }
    }

    private func drain() async {
        while let batch = nextBatch() {
            do {
                try await database.writeWithoutTransaction { db in try Self.commit(batch, db) }
                finish(batch)
            } catch {
                finish(batch, CommitFailure(cause: error))
            }
        }
    }

    /// As ``drain()``, by the thread of whoever wrote first; what comes meanwhile is soon done by another.
    private func drainHere() {
        for _ in 0..<Self.batchesForOthers {
            guard let batch = nextBatch() else { return }
            do {
                try database.writeWithoutTransaction { try Self.commit(batch, $0) }
                finish(batch)
            } catch {
                finish(batch, CommitFailure(cause: error))
            }
        }
        Task { await self.drain() }
    }

    private func nextBatch() -> [any PendingWrite]? {
        waiting.withLock { state in
            let taken = Array(state.writes.prefix(Self.most))
            state.writes.removeFirst(taken.count)
            if taken.isEmpty { state.draining = false }
            return taken.isEmpty ? nil : taken
        }
    }

    private static func commit(_ batch: [any PendingWrite], _ db: Database) throws {
        // Where many wait, the others gather while these are synced, and fewer transactions are made in all.
        guard batch.count <= few, batch.allSatisfy({ $0.durability == .later }) else { return try run(batch, db) }
        // With NORMAL a commit is written and not synced. Set back even where nothing was committed.
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
        let outcome = Result { try run(batch, db) }
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try outcome.get()
    }

    private static func run(_ batch: [any PendingWrite], _ db: Database) throws {
        do {
            try db.inTransaction {
                for write in batch { try write.run(db) }
                return .commit
            }
            FaultPoint.reach("committed")
        } catch is WriteFailure {
            // Nothing of any of them is left.
            guard batch.count > 1 else { return }
            try db.inTransaction {
                for write in batch { try write.runApart(db) }
                return .commit
            }
            FaultPoint.reach("committed")
        }
    }

    private func finish(_ batch: [any PendingWrite], _ failure: CommitFailure? = nil) {
        for write in batch { write.finish(failure) }
    }
}

/// Why a shared transaction was not committed.
package struct CommitFailure: Error {
    package let cause: any Error
}

/// A write of a transaction has failed, and keeps for itself of what.
private struct WriteFailure: Error {}

/// A write that waits for the shared transaction.
private protocol PendingWrite: Sendable {
    var durability: GroupedWrites.Durability { get }
    /// - Throws: ``WriteFailure``: the transaction has to be rolled back.
    func run(_ db: Database) throws
    /// Runs it in a savepoint.
    ///
    /// - Throws: `SavepointFailure` alone; else the write keeps for itself how it ended.
    func runApart(_ db: Database) throws
    func finish(_ failure: CommitFailure?)
}

private final class TypedWrite<R: Sendable>: PendingWrite {
    let durability: GroupedWrites.Durability
    private let body: @Sendable (Database) throws -> R
    private let continuation: CheckedContinuation<R, any Error>
    private let outcome = Mutex<Result<R, any Error>?>(nil)

    init(
        _ durability: GroupedWrites.Durability, body: @escaping @Sendable (Database) throws -> R,
        continuation: CheckedContinuation<R, any Error>
    ) {
        self.durability = durability
        self.body = body
        self.continuation = continuation
    }

    func run(_ db: Database) throws {
        let result = Result { try body(db) }
        outcome.withLock { $0 = result }
        if case .failure = result { throw WriteFailure() }
    }

    func runApart(_ db: Database) throws {
        let result: Result<R, any Error>
        do {
            result = .success(try db.savepoint { try body(db) })
        } catch let failure as SavepointFailure {
            throw failure
        } catch {
            result = .failure(error)
        }
        outcome.withLock { $0 = result }
    }

    func finish(_ failure: CommitFailure?) {
        if let failure { return continuation.resume(throwing: failure) }
        switch outcome.withLock({ $0 }) {
        case .success(let value): continuation.resume(returning: value)
        case .failure(let error): continuation.resume(throwing: error)
        case nil: continuation.resume(throwing: Fault(.failed, "a write was never run"))
        }
    }
}
