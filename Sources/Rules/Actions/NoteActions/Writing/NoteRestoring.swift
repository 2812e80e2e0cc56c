import Ledger
import Platform
import Rules

/// A block of the agent that is no longer in its note.
package struct MissingBlock: Codable, Sendable {
    package var note: BytePath
    package var step: String
    package var token: String
    /// `removed`: taken out by someone whose version contained it. `out`: missing from a save that includes later
    /// content. `wiped`: put back as soon as the note can be written.
    package var fate: String

    /// The missing blocks to show to a person, in the order in which they went missing. Blocks.
    ///
    /// - Parameter removed: whether to include blocks that someone took out.
    package static func all(removed: Bool, in transaction: LedgerTransaction) throws -> [MissingBlock] {
        let fates: [NoteMemory.Fate] = removed ? [.out, .wiped, .removed] : [.out, .wiped]
        return try transaction.keptBlocks(fates: fates.map(\.rawValue)).map {
            MissingBlock(note: $0.note, step: $0.step, token: $0.token, fate: $0.fate)
        }
    }

    package var line: String {
        switch NoteMemory.Fate(rawValue: fate) {
        case .wiped: "^\(token) of \(note) was lost in a save and will be restored once the note can be written"
        case .removed: "^\(token) of \(note) was removed by somebody who had it"
        default: "^\(token) of \(note) is missing since a save that has later content"
        }
    }
}

extension NoteWriter {
    /// The missing blocks, except those that someone is known to have taken out.
    package func missing() async throws -> [MissingBlock] {
        try await journal.ledger.read { try MissingBlock.all(removed: false, in: $0) }
    }

    /// Restores a missing block at a person's request.
    ///
    /// - Returns: whether it was missing.
    /// - Throws: `Fault(.transient)` if the note cannot be written now; the block is restored once it can.
    package func restore(step: String, in note: BytePath) async throws -> Bool {
        let isOut = try await journal.ledger.write { transaction in
            guard var block = try transaction.keptBlocks(note).first(where: { $0.step == step }),
                [.out, .removed].contains(NoteMemory.Fate(block))
            else { return false }
            block.fate = NoteMemory.Fate.wiped.rawValue
            try transaction.setKeptBlock(block)
            return true
        }
        if isOut { try await noteWasSaved(note) }
        return isOut
    }
}
