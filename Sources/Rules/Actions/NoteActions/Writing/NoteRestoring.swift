import Ledger
import Platform
import Rules

/// A block that is not in its note, though the agent wrote it there.
package struct MissingBlock: Codable, Sendable {
    package var note: BytePath
    package var step: String
    package var token: String
    /// `removed`: somebody who had it took it out. `out`: it was missing in a save that held what came after it. `wiped`:
    /// it is put back as soon as the note can be written.
    package var fate: String

    /// The blocks that a person may want to know of, in the order in which they were missed. Blocks.
    ///
    /// - Parameter removed: whether those as well that somebody has taken out.
    package static func all(removed: Bool, in transaction: LedgerTransaction) throws -> [MissingBlock] {
        let fates: [NoteMemory.Fate] = removed ? [.out, .wiped, .removed] : [.out, .wiped]
        return try transaction.keptBlocks(fates: fates.map(\.rawValue)).map {
            MissingBlock(note: $0.note, step: $0.step, token: $0.token, fate: $0.fate)
        }
    }

    package var line: String {
        switch NoteMemory.Fate(rawValue: fate) {
        case .wiped: "^\(token) of \(note) was lost in a save and is put back as soon as the note can be written"
        case .removed: "^\(token) of \(note) was taken out by somebody who had it"
        default: "^\(token) of \(note) is missing since a save that held what came after it"
        }
    }
}

extension NoteWriter {
    /// The blocks that are missing and that nobody is known to have taken out.
    package func missing() async throws -> [MissingBlock] {
        try await journal.ledger.read { try MissingBlock.all(removed: false, in: $0) }
    }

    /// Puts a block back that is out, because a person asks for it.
    ///
    /// - Returns: whether it was out.
    /// - Throws: `Fault(.transient)` where the note cannot be written just now: it comes back when it can.
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
