import Ledger
import Logging
import Platform
import Rules
import Synchronization

/// Ends writes that were begun but not ended, after a crash or if the ledger could not be written at the time.
extension NoteWriter {
    /// Ends every open write, except in places that are away; those wait for the note's next turn. Must run before any
    /// judging. A file system that hangs does not block this: its writes are ended once it responds, and its temporary
    /// files are left for the next start.
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

    /// In the note's turn, so that new blocks for it wait.
    private func endUnlessHung(_ note: BytePath) async throws {
        let (log, ledger) = (log, journal.ledger)
        inWork.begin([note])
        // The bulkhead that its turn runs in.
        let whose = Bulkhead("the note \(note)")
        let ended: Void? = try await outcome(unlessHung: whose) {
            defer { self.inWork.end([note]) }
            do {
                _ = try await self.enqueue(.ending, on: note)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil && fault.path != ledger.file
            {
                log.debug("a write to \(note) will be completed with the next one: \(fault.message)")
            }
        }
        guard ended == nil else { return }
        log.warning(
            """
            an unfinished write to \(note) will be completed later: its file system does not respond (`steward status` says more)
            """)
    }

    /// - Parameter place: the place of the leftovers; nil if they are in none.
    private func retireUnlessHung(_ leftovers: [ExchangedNote.Leftover], in place: String?) async throws {
        let (exchange, pool) = (exchange, pool)
        let whose = place.map(Bulkhead.place) ?? Bulkhead("temporary files outside all places")
        // By the time it responds, steps may be running there again.
        let isAwaited = Mutex(true)
        let retired: Void? = try await outcome(unlessHung: whose) {
            try await Bulkhead.$current.withValue(whose) {
                try await pool.run { try exchange.retire(leftovers) { isAwaited.withLock { $0 } } }
            }
        }
        guard retired == nil else { return }
        isAwaited.withLock { $0 = false }
        log.warning(
            """
            temporary files of an earlier run stay until the next start: a file system does not respond (\(whose.label); \
            `steward status` says more)
            """)
    }

    /// The token of `step`'s block if it has been written.
    package func written(step: String) async throws -> String? {
        if let note = try await journal.ledger.read({ try $0.openNote(step: step) }) {
            _ = try await enqueue(.ending, on: note)
        }
        return try await journal.ledger.read { try $0.noteBlock(step: step)?.token }
    }

    /// Ends open writes of a note, so that no block is composed twice. Only in the note's turn, because a write in
    /// progress looks the same.
    ///
    /// - Parameter steps: whose blocks may have been written before.
    /// - Returns: tokens by step, of the blocks found written and of those of `steps` written earlier.
    /// - Throws: `Fault(.transient)` if the note holds a torn write and someone keeps it open.
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
                let openers = try await pool.run { journal.files().openers(note) }
                throw Fault(
                    .transient,
                    "\(note) contains an incomplete write and is open in \(openers); it will be repaired once it is "
                        + "closed", path: note)
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
        let finding = try await pool.run { try recovery.recover(write) }
        log.notice("a write into \(write.note) was cut off: \(finding)")
        return finding
    }
}
