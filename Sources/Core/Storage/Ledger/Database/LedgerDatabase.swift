import Platform

/// The database that a ledger lies in: one writer, and readers beside it.
///
/// What the database itself fails at is thrown as `Fault(.transient)` where it passes by itself, such as a full disk; what
/// `body` throws comes out as it is, and nothing that it wrote is kept.
protocol LedgerDatabase: Sendable {
    /// Runs `body` on a snapshot.
    func read<R: Sendable>(_ body: @Sendable @escaping (any SQLConnection) throws -> R) async throws -> R

    /// As ``read(_:)``. Blocks.
    func readBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Runs `body` in a transaction that it shares with whatever else waits. `body` may be run again, after all that it wrote
    /// has been taken back.
    ///
    /// - Parameter isDurable: whether it returns only when the transaction is on the disk, and not when it is committed.
    /// - Returns: what `body` returns, and whether it changed any row: a full disk takes a transaction with nothing in it.
    func write<R: Sendable>(
        isDurable: Bool, _ body: @Sendable @escaping (any SQLConnection) throws -> R
    ) async throws -> (result: R, isWritten: Bool)

    /// Runs `body` in a transaction of its own, and blocks until that is on the disk.
    ///
    /// - Returns: as ``write(isDurable:_:)``.
    func writeBlocking<R>(_ body: (any SQLConnection) throws -> R) throws -> (result: R, isWritten: Bool)

    /// Deleted values must not stay in the database's files, nor in its memory. Returns before they are gone.
    func eraseDeleted()

    /// Whether so much was written since the last checkpoint that one is worth it when no job is to be carried out.
    var needsCheckpoint: Bool { get }

    /// Makes a checkpoint as soon as nobody writes for a moment, so that later writes cost less.
    func checkpointAtRest() async

    /// Writes a copy in place of an earlier copy, which stays until the new one is whole. Reads and writes go on meanwhile.
    func backUp(replacing target: BytePath) async throws

    /// Blocks until nobody reads or writes any more.
    func close() throws
}
