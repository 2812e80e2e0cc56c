import GRDB
import Platform
import Synchronization

/// Commits pending writes together: one transaction and one sync for all of them. Each write returns when the
/// transaction is on disk or, if it may be less durable, when it is committed.
///
/// A failing write does not affect the others. There are no savepoints until one fails, because SQLite copies every
/// page changed in a savepoint, some fifty for a file with three steps. If one of several writes fails, all are rolled
/// back and run again, each in its own savepoint.
package final class GroupedWrites: Sendable {
    /// When a write is on disk, safe from a power cut. Either way, once it returns it is visible to other readers and
    /// writers, and survives a crash of the process.
    package enum Durability: Sendable {
        /// When it returns.
        case now
        /// When the next `now` write has returned, or at a checkpoint: the log is written and synced from front to end.
        /// For data that can be found out again.
        case later
    }

    private struct Waiting {
        var writes: [any PendingWrite] = []
        var draining = false
    }

    private let database: any DatabaseWriter
    private let waiting = Mutex(Waiting())

    private static let most = 1024
    /// Up to this many are committed without a sync if none of them has to be on disk; more are a burst.
    private static let few = 2
    /// How many batches the first writer commits on behalf of others.
    private static let batchesForOthers = 4

    package init(_ database: any DatabaseWriter) { self.database = database }

    /// Runs `body` in a transaction shared with other pending writes; returns once that is on disk. `body` runs on
    /// another thread unless the caller's may block.
    ///
    /// - Parameters:
    ///   - durability: when it must be on disk; another write may bring it there earlier.
    ///   - body: may be rolled back and run again; the last run's result or error counts.
    /// - Throws: any error of `body`, after rolling it back; ``CommitFailure`` if the transaction was not committed.
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

    /// Like ``drain()``, on the first writer's thread; writes that arrive in the meantime are soon taken over by
    /// another.
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
        // If many are pending, the sync gives others time to gather, which makes fewer transactions in all.
        guard batch.count <= few, batch.allSatisfy({ $0.durability == .later }) else { return try run(batch, db) }
        // With NORMAL a commit is written but not synced. Reset even if nothing was committed.
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
            // All of them were rolled back.
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

/// One of a transaction's writes has failed; the write itself keeps the error.
private struct WriteFailure: Error {}

/// A write queued for the shared transaction.
private protocol PendingWrite: Sendable {
    var durability: GroupedWrites.Durability { get }
    /// - Throws: ``WriteFailure``: the transaction must be rolled back.
    func run(_ db: Database) throws
    /// Runs it in a savepoint.
    ///
    /// - Throws: only `SavepointFailure`; the write itself keeps any other result.
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
