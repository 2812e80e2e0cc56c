import Ledger
import Logging
import Platform
import Rules
import Synchronization

/// Writes that were begun and not ended: by a crash, or because the ledger could not be written when the note was.
extension NoteWriter {
    /// Ends every write that was begun and not ended, but for those into places that are away, which wait for the note's next
    /// turn; must run before anything is judged. Nothing waits for a file system that does not answer: what was begun there is
    /// ended when it does, and what was left there under temporary names stays for the next start.
    package func recover() async throws {
        let notes = Set(try await journal.ledger.read { try $0.openNoteWrites() }.map(\.note))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for note in notes { group.addTask { try await self.endUnlessHung(note) } }
            try await group.waitForAll()
        }
        let left = try await journal.ledger.read { try $0.staged() }.filter(ExchangedNote.mayBeLeft)
        let byPlace = Dictionary(grouping: left) { journal.places.locate($0.path)?.place.name }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, own) in byPlace { group.addTask { try await self.retireUnlessHung(own, in: place) } }
            try await group.waitForAll()
        }
    }

    /// In the note's turn: a block that is asked for meanwhile waits for it.
    private func endUnlessHung(_ note: BytePath) async throws {
        let (log, ledger) = (log, journal.ledger)
        inWork.begin([note])
        // In whose name its turn makes its calls.
        let whose = Bulkhead("the note \(note)")
        let ended: Void? = try await outcome(unlessHung: whose) {
            defer { self.inWork.end([note]) }
            do {
                _ = try await self.enqueue(.ending, on: note)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil && fault.path != ledger.file
            {
                log.debug("what was begun in \(note) is ended when it is written to: \(fault.message)")
            }
        }
        guard ended == nil else { return }
        log.warning(
            """
            what was being written into \(note) is ended later: its file system does not answer (`steward status` says more)
            """)
    }

    /// - Parameter place: in which they lie; nil for none.
    private func retireUnlessHung(_ leftovers: [ExchangedNote.Leftover], in place: String?) async throws {
        let (exchange, lanes) = (exchange, lanes)
        let whose = place.map(Bulkhead.place) ?? Bulkhead("temporary files that lie in no place")
        // By the time that it answers, steps may be at work there again.
        let isAwaited = Mutex(true)
        let retired: Void? = try await outcome(unlessHung: whose) {
            try await Bulkhead.$current.withValue(whose) {
                try await lanes.run { try exchange.retire(leftovers) { isAwaited.withLock { $0 } } }
            }
        }
        guard retired == nil else { return }
        isAwaited.withLock { $0 = false }
        log.warning(
            """
            temporary files of an earlier life stay until the next start: a file system does not answer (\(whose.label); \
            `steward status` says more)
            """)
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
