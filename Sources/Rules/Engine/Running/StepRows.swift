import Ledger
import Synchronization

/// The ledger rows of a running step: its intent, then its receipt.
///
/// An action whose effect has a journal in the ledger writes both in that journal's own transactions
/// (``RuleAction/journalsItself``), so that one commit begins the effect and one ends it.
package final class StepRows: Sendable {
    private let intend: @Sendable (LedgerTransaction) throws -> Void
    private let receive: @Sendable (Receipt, LedgerTransaction) throws -> JobAtWork
    private let outcome = Mutex<JobAtWork?>(nil)

    init(
        _ intend: @escaping @Sendable (LedgerTransaction) throws -> Void,
        end: @escaping @Sendable (Receipt, LedgerTransaction) throws -> JobAtWork
    ) {
        self.intend = intend
        receive = end
    }

    /// Writes the intent; the effect may begin once the transaction is committed. May be called again if an earlier
    /// effect did not happen.
    package func begin(in transaction: LedgerTransaction) throws { try intend(transaction) }

    /// Writes the receipt; the effect must be durable. If the transaction is not committed, `perform` must throw.
    package func end(_ receipt: Receipt, in transaction: LedgerTransaction) throws {
        let ended = try receive(receipt, transaction)
        outcome.withLock { $0 = ended }
    }

    /// The job with the receipt; nil until the receipt is written.
    var ended: JobAtWork? { outcome.withLock { $0 } }

    var isEnded: Bool { ended != nil }
}
