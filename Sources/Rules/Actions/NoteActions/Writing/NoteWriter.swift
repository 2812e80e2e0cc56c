import Foundation
import Ledger
import Logging
import Platform
import Rules

/// Appends blocks to notes that people and other programs also write. Requests for the same note are batched
/// (``NoteTurns``), people who have it open get time to save (``EditorTimeout``), and blocks lost in a save are
/// restored (``SavedNotes``). Nobody else's text is ever replaced unread.
package final class NoteWriter: Sendable {
    /// An operation in a note's turn.
    enum NoteOperation: Sendable {
        case append(NoteRequest, LedgerHooks?)
        /// End earlier open writes.
        case ending
        /// Examine someone's save and restore what it lost.
        case look
        /// Change existing text.
        case change(NoteChange)

        var request: NoteRequest? {
            if case .append(let request, _) = self { request } else { nil }
        }

        var hooks: LedgerHooks? {
            if case .append(_, let hooks) = self { hooks } else { nil }
        }
    }

    private typealias Turns = NoteTurns<NoteOperation, String?, LastDraft>

    let journal: EffectJournal
    let inWork: PathsInWork
    let inPlace: InPlaceFile
    let exchange: ExchangedNote
    private let timeout: EditorTimeout
    private let turns = Turns(memory: LastDraft.init, mayKeep: \.isSmall)
    private let saved: SavedNotes
    let pool = BlockingPool("notes", threads: 4, perBulkhead: true)
    let log: Logger

    /// - Parameters:
    ///   - device: suffix for anchors that a note already has.
    ///   - backups: folder for copies of notes that are replaced instead of written in place.
    package init(
        journal: EffectJournal, inWork: PathsInWork, timeout: NoteTimeouts, device: String, backups: BytePath,
        log: Logger
    ) {
        self.journal = journal
        self.inWork = inWork
        self.timeout = EditorTimeout(timeout, pool)
        saved = SavedNotes(journal: journal, timeout: self.timeout, log: log)
        self.log = log
        inPlace = InPlaceFile(journal: journal, device: device)
        exchange = ExchangedNote(journal: journal, device: device, backups: backups)
    }

    /// Appends the block to its note.
    ///
    /// - Parameter hooks: ledger changes that accompany the block.
    /// - Returns: its token, which differs from the requested one if the note already had that.
    /// - Throws: `Fault(.transient)` if someone keeps the note open for writing; `.failed` if it cannot be written at
    ///   all.
    package func append(_ request: NoteRequest, _ hooks: LedgerHooks? = nil) async throws -> String {
        guard let token = try await enqueue(.append(request, hooks), on: request.note) else {
            throw Fault(.failed, "the block of \(request.step) was not written")
        }
        return token
    }

    /// Waits for the note's turn, which first ends earlier open writes.
    ///
    /// - Returns: the token of the request's block; nil without a request.
    func enqueue(_ wish: NoteOperation, on note: BytePath) async throws -> String? {
        try await turns.enqueue(wish, on: note) { try await self.serve($0, $1, $2) }
    }

    private func serve(_ note: BytePath, _ turns: [Turns.Turn], _ last: LastDraft) async throws {
        try await pool.run { try journal.presence.require(note) }
        // Another turn may have ended a write that was open when these were requested.
        let written = try await endOpenWrites(of: note, looking: turns.compactMap(\.wish.request?.step))
        let unanswered = turns.filter { turn in
            switch turn.wish {
            case .ending: turn.answer(nil)
            case .look, .change: return true
            case .append(let request, _):
                guard let token = written[request.step] else { return true }
                turn.answer(token)
            }
            return false
        }
        for turn in unanswered {
            guard case .change(let change) = turn.wish else { continue }
            // A failure of one must not affect the others.
            do {
                try await carryOut(change, in: note)
                turn.answer(nil)
            } catch {
                turn.fail(error)
            }
        }
        let others = unanswered.filter { if case .change = $0.wish { false } else { true } }
        guard !others.isEmpty else { return }
        let requests = others.compactMap(\.wish.request).sorted { ($0.order, $0.step) < ($1.order, $1.step) }
        let blocks = try await write(requests, to: note, BatchHooks(others.map(\.wish)), last)
        let tokens = Dictionary(blocks.map { ($0.step, $0.token) }) { first, _ in first }
        for turn in others { turn.answer(turn.wish.request.flatMap { tokens[$0.step] }) }
    }

    private func write(
        _ requests: [NoteRequest], to note: BytePath, _ hooks: BatchHooks, _ last: LastDraft
    ) async throws -> [NoteBlockRecord] {
        // Held for the whole turn, so that renaming the note's folder does not matter.
        let files = journal.files()
        if requests.isEmpty {
            guard try await look(at: note, files, waits: true) == true else { return [] }
        }
        inWork.begin([note])
        defer { inWork.end([note]) }
        defer { timeout.end(note) }
        return try await put(requests, into: note, hooks, files, last)
    }

    private func put(
        _ requests: [NoteRequest], into note: BytePath, _ hooks: BatchHooks, _ files: HeldFiles,
        _ last: LastDraft
    ) async throws -> [NoteBlockRecord] {
        let lock = try await timeout.waitForEditor(of: note, files) { try await self.look(at: note, files) != nil }
        if let lock {
            log.info("\(note) is open in an editor (\(lock)); writing anyway, and checking its next save")
        }
        var busySince: ContinuousClock.Instant?
        for tries in 0..<10_000 {
            let attempt = try await pool.run {
                try inPlace.append(requests, to: note, files, last: last, begin: hooks.begin, finish: hooks.end)
            }
            switch attempt {
            case .written(let blocks):
                tell(blocks, requests, note)
                return blocks
            case .replaced:
                continue
            case .missing:
                guard !requests.isEmpty else { return [] }
                if let blocks = try await create(requests, at: note, hooks, files) { return blocks }
            case .unsupported:
                return try await replace(requests, note, hooks, files)
            case .busy:
                let since = busySince ?? .now
                busySince = since
                if try await timeout.waitForOpeners(of: note, files, since: since, tries: tries) { continue }
                if let writers = try await writers(of: note, files) {
                    throw Fault(.transient, "\(note) is kept open for writing by \(writers)", path: note)
                }
                return try await replace(requests, note, hooks, files)
            }
        }
        throw Fault(.transient, "\(note) is being replaced again and again", path: note)
    }

    /// The notes that cannot be written now, and why.
    package func waitingFor() -> [BytePath: String] { timeout.heldUp }

    /// Ends all waits for notes that are open elsewhere.
    package func stopWaiting() { timeout.stop() }

    private func create(
        _ requests: [NoteRequest], at note: BytePath, _ hooks: BatchHooks, _ files: HeldFiles
    ) async throws -> [NoteBlockRecord]? {
        guard try await timeout.staysMissing(note, files),
            case .written(let blocks) = try await pool.run({
                try inPlace.create(requests, at: note, files, begin: hooks.begin, finish: hooks.end)
            })
        else { return nil }
        tell(blocks, requests, note)
        return blocks
    }

    private func replace(
        _ requests: [NoteRequest], _ note: BytePath, _ hooks: BatchHooks, _ files: HeldFiles
    ) async throws -> [NoteBlockRecord] {
        if requests.isEmpty {
            guard try await look(at: note, files, waits: true) == true else { return [] }
        }
        let settle = timeout.limits.settle
        let exchange = exchange
        let pool = pool
        // This kind of write has its own journal.
        try await journal.ledger.write { try hooks.begin(in: $0) }
        let written = try await pool.run {
            try exchange.append(requests, to: note, files, quietFor: settle)
        }
        tell(written.blocks, requests, note)
        let displaced = written.displaced
        let log = log
        Task {
            // Programs that had the old file open may still write into it; check again after a minute.
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                log.debug("the replaced version of \(note) is examined again at the next start")
                return
            }
            do {
                try await pool.run { try exchange.retire(displaced) }
            } catch {
                log.error("the replaced version of \(note) is kept as \(displaced.path): \(explain(error))")
            }
        }
        return written.blocks
    }

    /// The programs that have it open for writing; nil for none.
    private func writers(of note: BytePath, _ files: HeldFiles) async throws -> String? {
        try await pool.run {
            try Lease.probeWriters(files.openFollowing(note)) == .busy ? files.openers(note) : nil
        }
    }

    // MARK: Saves by others

    /// Called when someone else's version of a note has settled; see ``SavedNotes``.
    package func noteWasSaved(_ note: BytePath) async throws {
        try await saved.noteWasSaved(note) { _ = try await self.enqueue(.look, on: $0) }
    }

    /// - Parameter waits: whether to wait for a writer. A close without a change raises no event, so nothing else
    ///   would trigger another look.
    /// - Returns: whether blocks have to be put back; nil if someone is writing.
    private func look(at note: BytePath, _ files: HeldFiles, waits: Bool = false) async throws -> Bool? {
        let look = NoteLook(journal: journal)
        for _ in 0..<(waits ? 50 : 1) {
            switch try await pool.run({ try look.look(at: note, files) }) {
            case .nothing: return false
            case .busy:
                if waits, !timeout.isStopping { try await Task.sleep(for: .milliseconds(100)) }
            case .seen(let judged, let lost):
                for block in judged {
                    if let message = NoteSnapshot.message(block, note) { log.notice("\(message)") }
                }
                return lost > 0
            }
        }
        return nil
    }

    private func tell(_ blocks: [NoteBlockRecord], _ requests: [NoteRequest], _ note: BytePath) {
        let asked = Set(requests.map(\.step))
        for block in blocks where !asked.contains(block.step) {
            log.notice("put ^\(block.token) back into \(note): a save of an older text had removed it")
        }
    }
}
