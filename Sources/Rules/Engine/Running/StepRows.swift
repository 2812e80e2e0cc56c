import Ledger
import Synchronization

/// What the ledger holds of a step that is being carried out: its intent, then its receipt.
///
/// An action whose effect has a journal in the ledger writes both in that journal's own transactions
/// (``RuleAction/journalsItself``): then one commit begins the effect and one ends it.
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

    /// Writes the intent; the effect may begin when the transaction is committed. May be called again, where what was
    /// begun has come to nothing.
    package func begin(in transaction: LedgerTransaction) throws { try intend(transaction) }

    /// Writes the receipt; the effect must be durable. Where the transaction is not committed, `perform` has to throw.
    package func end(_ receipt: Receipt, in transaction: LedgerTransaction) throws {
        let ended = try receive(receipt, transaction)
        outcome.withLock { $0 = ended }
    }

    /// The job with the receipt; nil where that has not been written.
    var ended: JobAtWork? { outcome.withLock { $0 } }

    var isEnded: Bool { ended != nil }
}
