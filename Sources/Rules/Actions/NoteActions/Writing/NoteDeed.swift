import Ledger

/// What is committed together with a block: in the transactions that begin and end its writing, so that these are the only
/// two of it.
package struct NoteDeed: Sendable {
    let begin: @Sendable (LedgerTransaction) throws -> Void
    let end: @Sendable (_ token: String, LedgerTransaction) throws -> Void

    /// - Parameters:
    ///   - begin: called again where what was begun has come to nothing.
    ///   - end: not called where the note had to be exchanged.
    package init(
        begin: @escaping @Sendable (LedgerTransaction) throws -> Void,
        end: @escaping @Sendable (_ token: String, LedgerTransaction) throws -> Void
    ) {
        self.begin = begin
        self.end = end
    }
}

/// Those of blocks that are written together.
struct NoteDeeds: Sendable {
    private let byStep: [String: NoteDeed]

    init(_ wishes: [NoteWriter.Wish]) {
        var byStep: [String: NoteDeed] = [:]
        for wish in wishes { if let step = wish.request?.step { byStep[step] = wish.deed } }
        self.byStep = byStep
    }

    @Sendable func begin(in transaction: LedgerTransaction) throws {
        for deed in byStep.values { try deed.begin(transaction) }
    }

    @Sendable func end(in transaction: LedgerTransaction, _ blocks: [NoteBlockRecord]) throws {
        for block in blocks { try byStep[block.step]?.end(block.token, transaction) }
    }
}
