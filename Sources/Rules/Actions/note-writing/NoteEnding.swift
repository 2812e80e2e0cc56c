import Ledger
import Logging
import Platform
import Rules

/// Writes that were begun and not ended: by a crash, or because the ledger could not be written when the note was.
extension NoteWriter {
    /// Looks at every write that was begun and not ended, but for those into places that are away, which wait for the
    /// note's next turn; must run before anything is judged.
    package func recover() async throws {
        let (exchange, presence) = (exchange, journal.presence)
        for write in try await journal.ledger.read({ try $0.openNoteWrites() })
        where try await lanes.run({ try presence.isHere(write.note) }) {
            try await end(write)
        }
        try await lanes.run { try exchange.retireLeftovers() }
    }

    /// Whether `step`'s block has been written, and under which token.
    package func written(step: String) async throws -> String? {
        if let note = try await journal.ledger.read({ try $0.openNote(step: step) }) {
            _ = try await enqueue(.ending, on: note)
        }
        return try await journal.ledger.read { try $0.noteBlock(step: step)?.token }
    }

    /// Ends what earlier writes of a note left open, so that no block is composed a second time. Only in the note's
    /// turn: a write that is still being made looks the same.
    ///
    /// - Parameter steps: whose blocks may have been written before.
    /// - Returns: the tokens of blocks that turned out to be written, and of those of `steps` that were, by step.
    /// - Throws: `Fault(.transient)` where the note holds half a write and somebody keeps it open.
    func endOpenWrites(of note: BytePath, looking steps: [String]) async throws -> [String: String] {
        var tokens: [String: String] = [:]
        for write in try await journal.ledger.read({ try $0.openNoteWrites(note) }) {
            switch try await end(write) {
            case .done, .mended, .rewritten(blocksPresent: true):
                for block in write.blocks { tokens[block.step] = block.token }
            case .void, .rewritten(blocksPresent: false):
                break
            case .held:
                let journal = journal
                let openers = try await lanes.run { journal.files().openers(note) }
                throw Fault(
                    .transient,
                    "\(note) holds half a write of before and is kept open by \(openers); it is mended "
                        + "as soon as nobody has it open", path: note)
            }
        }
        for block in try await journal.ledger.read({ try steps.compactMap($0.noteBlock(step:)) }) {
            tokens[block.step] = block.token
        }
        return tokens
    }

    @discardableResult
    private func end(_ write: NoteWriteRecord) async throws -> NoteRecovery.Finding {
        let recovery = NoteRecovery(journal: journal)
        inWork.begin([write.note])
        defer { inWork.end([write.note]) }
        let finding = try await lanes.run { try recovery.recover(write) }
        log.notice("a write into \(write.note) was cut off: \(finding)")
        return finding
    }
}
