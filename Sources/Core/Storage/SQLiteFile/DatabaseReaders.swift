import Dispatch
import GRDB
import Platform
import Synchronization

/// Read connections for threads that may block, opened when first needed; there are as many concurrent reads as
/// connections.
///
/// GRDB's own pool passes each read through three queues: with many threads and short reads, they mostly wait for each
/// other there.
package final class DatabaseReaders: Sendable {
    private let open: @Sendable () throws -> DatabaseQueue
    private let count: Int
    private let places: DispatchSemaphore
    private let free = Mutex<[DatabaseQueue]>([])
    private let isClosed = Atomic<Bool>(false)

    init(count: Int, open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.count = count
        self.open = open
        places = DispatchSemaphore(value: count)
    }

    /// Runs `body` on a snapshot.
    ///
    /// - Throws: any error of `body`, and SQLite's errors unchanged.
    package func read<R>(_ body: (Database) throws -> R) throws -> R {
        Blocking.call()
        places.wait()
        defer { places.signal() }
        if isClosed.load(ordering: .acquiring) {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database is closed")
        }
        let reader = try free.withLock { $0.popLast() } ?? open()
        defer { free.withLock { $0.append(reader) } }
        return try reader.unsafeRead { db in try db.snapshot { try body(db) } }
    }

    /// Closes the idle connections, along with their cached statements and the values in those. They are reopened when
    /// needed. Blocks.
    package func release() throws {
        let idle = free.withLock { free in
            defer { free = [] }
            return free
        }
        for reader in idle { try reader.close() }
    }

    /// Waits for active reads; later reads fail.
    package func close() throws {
        isClosed.store(true, ordering: .releasing)
        for _ in 0..<count { places.wait() }
        defer { for _ in 0..<count { places.signal() } }
        for reader in free.withLock({ $0 }) { try reader.close() }
    }
}

/// Transactions whose statements are compiled once per connection, rather than once per call like GRDB's own.
extension Database {
    /// Runs `body` on the state that its first statement finds.
    func snapshot<R>(_ body: () throws -> R) throws -> R {
        try cachedStatement(sql: "BEGIN DEFERRED TRANSACTION").execute()
        do {
            let result = try body()
            try cachedStatement(sql: "COMMIT TRANSACTION").execute()
            return result
        } catch {
            if isInsideTransaction { try rollback() }
            throw error
        }
    }

    /// Runs `body` in a savepoint of the current transaction; an error rolls back its changes and no others.
    ///
    /// - Throws: `SavepointFailure` if the rollback failed: the transaction must not be committed.
    func savepoint<R>(_ body: () throws -> R) throws -> R {
        try cachedStatement(sql: "SAVEPOINT shared").execute()
        do {
            let result = try body()
            try cachedStatement(sql: "RELEASE SAVEPOINT shared").execute()
            return result
        } catch {
            do {
                // A full disk may have ended the whole transaction.
                if isInsideTransaction {
                    try cachedStatement(sql: "ROLLBACK TRANSACTION TO SAVEPOINT shared").execute()
                    try cachedStatement(sql: "RELEASE SAVEPOINT shared").execute()
                }
            } catch let failure {
                throw SavepointFailure(cause: failure)
            }
            throw error
        }
    }
}

/// A write could not be rolled back on its own.
struct SavepointFailure: Error {
    let cause: any Error
}
