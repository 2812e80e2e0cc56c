import Platform
import Synchronization

/// Validates a deposit's archive and makes the parts that belong beside it in the vault. Anyone who knows the public
/// key can make a deposit: it is as hostile as any outside file.
package protocol DepositJudge: Sendable {
    /// Reads the archive, and blocks while it does.
    ///
    /// - Parameter deposit: no part of it may be written to disk. Nothing that the depositor claims about it is
    ///   trusted.
    /// - Throws: `Fault(.refused)` if it is not a comic; any error from reading the deposit.
    func judge(_ deposit: DropContent) throws -> DropVerdict
}

extension SealedVault {
    /// Ingests a deposit that `judge` accepts; see ``ingest(_:isApproved:limit:validate:)``. One deposit at a time,
    /// across all vaults.
    package func ingest(_ id: ObjectID, isApproved: Bool = false, judge: any DepositJudge) throws -> AddOutcome {
        try ingesting.withLock { _ in
            try ingest(id, isApproved: isApproved) { try judge.judge($0) }
        }
    }
}

/// Held while a deposit is ingested.
private let ingesting = Mutex(())
