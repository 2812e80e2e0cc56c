import Ledger
import NoteActions
import Platform
import Rules

/// `steward blocks`: blocks missing from their notes.
package struct ListMissingBlocks: Query {
    package static let name = "blocks"
    /// Includes blocks that were removed on purpose.
    private let all: Bool

    package init(all: Bool) { self.all = all }

    package func read(_ records: Records) async throws -> [MissingBlock] {
        try await records.ledger?.read { try MissingBlock.all(removed: all, in: $0) } ?? []
    }

    package func lines(_ answer: [MissingBlock]) -> [String] {
        answer.isEmpty ? ["no block is missing"] : answer.map(\.line)
    }
}

/// `steward blocks restore`: restores blocks that a save has lost (`docs/design/stale-buffers.md`).
package struct RestoreBlocks: Command {
    package struct Answer: Codable, Sendable {
        let restored: [MissingBlock]
        /// Those that could not be restored.
        let missing: [MissingBlock]
    }

    package static let name = "blocks-restore"
    /// A block's anchor, with or without `^`; nil for all, except those known to have been removed on purpose.
    private let anchor: String?
    /// Needed if several notes miss a block with that anchor.
    private let note: BytePath?

    package init(_ anchor: String?, in note: BytePath?) { (self.anchor, self.note) = (anchor, note) }

    package func run(in agent: AgentContext) async throws -> Answer {
        let token = anchor.map { String($0.drop { $0 == "^" }) }
        let all = try await agent.ledger.read { try MissingBlock.all(removed: token != nil, in: $0) }
        let found = all.filter { (token == nil || $0.token == token) && (note == nil || $0.note == note) }
        if let token {
            guard !found.isEmpty else {
                throw Fault(.usage, "no note lacks the block ^\(token); `steward blocks --all` shows those that do")
            }
            let notes = Set(found.map(\.note)).sorted()
            guard notes.count == 1 else {
                throw Fault(
                    .usage,
                    "\(notes.count) notes lack a block ^\(token); name one of them: "
                        + notes.map { "--note \($0)" }.joined(separator: ", "))
            }
        }
        for block in found { _ = try await agent.core.notes.restore(step: block.step, in: block.note) }
        let steps = Set(found.map(\.step))
        let left = try await agent.ledger.read { try MissingBlock.all(removed: true, in: $0) }.filter {
            steps.contains($0.step)
        }
        let back = found.filter { block in !left.contains { $0.step == block.step } }
        return Answer(restored: back, missing: left)
    }

    package func lines(_ answer: Answer) -> [String] {
        let lines = answer.restored.map { "put ^\($0.token) back into \($0.note)" } + answer.missing.map(\.line)
        return lines.isEmpty ? ["no block is missing"] : lines
    }
}
