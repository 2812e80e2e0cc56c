import Ledger
import NoteWriting
import Platform
import Rules

/// Blocks that a save has lost (`docs/design/stale-buffers.md`).
extension Operations {
    /// The blocks that their notes lack, from the ledger alone.
    ///
    /// - Parameter all: whether those as well that somebody who had them took out.
    package static func missingBlocks(state: BytePath, all: Bool) async throws -> ControlReply {
        let ledger = try Ledger.openForReading(directory: state)
        let found = try await ledger?.read { try MissingBlock.all(removed: all, in: $0) } ?? []
        return try ControlReply(found, lines: found.isEmpty ? ["no block is missing"] : found.map(\.line))
    }

    /// Puts blocks back into their notes that are out of them.
    ///
    /// - Parameters:
    ///   - anchor: one block's, with or without `^`; nil for all but those that somebody is known to have taken out.
    ///   - note: where several notes miss a block of that anchor.
    package func restoreBlocks(_ anchor: String?, in note: BytePath?) async throws -> ControlReply {
        let token = anchor.map { String($0.drop { $0 == "^" }) }
        let all = try await core.ledger.read { try MissingBlock.all(removed: token != nil, in: $0) }
        let found = all.filter { (token == nil || $0.token == token) && (note == nil || $0.note == note) }
        if let token {
            guard !found.isEmpty else {
                throw Fault(.usage, "no note misses the block ^\(token); `steward blocks --all` shows those that do")
            }
            let notes = Set(found.map(\.note)).sorted()
            guard notes.count == 1 else {
                throw Fault(
                    .usage,
                    "\(notes.count) notes miss a block ^\(token); say which is meant: "
                        + notes.map { "--note \($0)" }.joined(separator: ", "))
            }
        }
        for block in found { _ = try await core.notes.restore(step: block.step, in: block.note) }
        let steps = Set(found.map(\.step))
        let left = try await core.ledger.read { try MissingBlock.all(removed: true, in: $0) }.filter {
            steps.contains($0.step)
        }
        let back = found.filter { block in !left.contains { $0.step == block.step } }
        let lines = back.map { "put ^\($0.token) back into \($0.note)" } + left.map(\.line)
        return try ControlReply(back, lines: lines.isEmpty ? ["no block is missing"] : lines)
    }
}
