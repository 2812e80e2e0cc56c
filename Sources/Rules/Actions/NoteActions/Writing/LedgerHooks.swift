import Ledger

/// Ledger changes that accompany a block, in the two transactions that begin and end its write.
package struct LedgerHooks: Sendable {
    let begin: @Sendable (LedgerTransaction) throws -> Void
    let end: @Sendable (_ token: String, LedgerTransaction) throws -> Void

    /// - Parameters:
    ///   - begin: called again if a begun write was voided.
    ///   - end: not called if the note had to be exchanged.
    package init(
        begin: @escaping @Sendable (LedgerTransaction) throws -> Void,
        end: @escaping @Sendable (_ token: String, LedgerTransaction) throws -> Void
    ) {
        self.begin = begin
        self.end = end
    }
}

/// The hooks of blocks that are written together.
struct BatchHooks: Sendable {
    private let byStep: [String: LedgerHooks]

    init(_ wishes: [NoteWriter.NoteOperation]) {
        var byStep: [String: LedgerHooks] = [:]
        for wish in wishes { if let step = wish.request?.step { byStep[step] = wish.hooks } }
        self.byStep = byStep
    }

    @Sendable func begin(in transaction: LedgerTransaction) throws {
        for hooks in byStep.values { try hooks.begin(transaction) }
    }

    @Sendable func end(in transaction: LedgerTransaction, _ blocks: [NoteBlockRecord]) throws {
        for block in blocks { try byStep[block.step]?.end(block.token, transaction) }
    }
}
