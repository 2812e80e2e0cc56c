import Platform

/// The database of a ledger: one writer, with concurrent readers.
///
/// The database's own errors are thrown as `Fault(.transient)` if they may pass, such as a full disk. Errors of `body`
/// are rethrown as they are, after a rollback.
protocol LedgerDatabase: Sendable {
    /// Runs `body` on a snapshot.
    func read<R: Sendable>(_ body: @Sendable @escaping (any SQLConnection) throws -> R) async throws -> R

    /// Like ``read(_:)``. Blocks.
    func readBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Runs `body` in a transaction shared with other pending writes. `body` may be rolled back and run again.
    ///
    /// - Parameter isDurable: whether to return only once the transaction is on disk, not when it is committed.
    /// - Returns: the result of `body`, and whether it changed any row: an empty transaction succeeds even on a full
    ///   disk.
    func write<R: Sendable>(
        isDurable: Bool, _ body: @Sendable @escaping (any SQLConnection) throws -> R
    ) async throws -> (result: R, isWritten: Bool)

    /// Runs `body` in its own transaction, and blocks until that is on disk.
    ///
    /// - Returns: as ``write(isDurable:_:)``.
    func writeBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> (result: R, isWritten: Bool)

    /// Erases deleted values from the database's files and memory. Returns before that is done.
    func eraseDeleted()

    /// Whether enough was written since the last checkpoint to make one once no job is running.
    var needsCheckpoint: Bool { get }

    /// Makes a checkpoint as soon as there are no writes for a moment, which makes later writes cheaper.
    func checkpointAtRest() async

    /// Copies the database over an earlier copy, which stays until the new one is complete. Reads and writes continue
    /// in the meantime.
    func backUp(replacing target: BytePath) async throws

    /// Blocks until all reads and writes have ended.
    func close() throws
}
