import Foundation
import Ledger
import Logging
import Platform
import Rules

/// How long the note writer is patient.
package struct NotePatience: Sendable {
    /// Seconds to wait while somebody has the note open; then a mere reader is written past, a writer is come back to.
    package var open: Double = 30
    /// Seconds to wait while an editor's swap or lock file stands beside the note.
    package var editor: Double = 60
    /// Seconds for which a missing note must have been missing, and a note without leases quiet.
    package var settle: Double = 1

    package init() {}
}

/// Appends blocks to notes that people and other programs write as well. Requests that wait for the same note are
/// written in one go. Nothing that somebody else wrote is ever replaced unread.
package actor NoteWriter {
    /// What is asked for in a note's turn.
    enum Wish: Sendable {
        case append(NoteRequest)
        /// That earlier writes be ended.
        case ending
        /// That somebody's save be looked at, and what it lost be put back.
        case look

        var request: NoteRequest? {
            if case .append(let request) = self { request } else { nil }
        }
    }

    private struct Waiting {
        let wish: Wish
        let answer: CheckedContinuation<String?, any Error>
    }

    let journal: EffectJournal
    let inWork: PathsInWork
    let inPlace: InPlaceNote
    let exchange: ExchangedNote
    private let patience: NotePatience
    let lanes = BlockingLanes("notes", count: 4, apart: true)
    let log: Logger
    private var waiting: [BytePath: [Waiting]] = [:]
    private var atWork: Set<BytePath> = []
    /// Notes whose lost blocks could not be put back yet.
    private var owed: Set<BytePath> = []
    private var isStopping = false
    private var heldUp: [BytePath: String] = [:]

    /// - Parameters:
    ///   - device: the suffix for anchors that a note already holds.
    ///   - backups: where a copy is kept of a note that has to be replaced instead of written in place.
    package init(
        journal: EffectJournal, inWork: PathsInWork, patience: NotePatience, device: String, backups: BytePath,
        log: Logger
    ) {
        self.journal = journal
        self.inWork = inWork
        self.patience = patience
        self.log = log
        inPlace = InPlaceNote(journal: journal, device: device)
        exchange = ExchangedNote(journal: journal, device: device, backups: backups)
    }

    /// Puts the block into its note.
    ///
    /// - Returns: the token that it got, which is another than the one asked for where the note held that already.
    /// - Throws: `Fault(.transient)` where somebody keeps the note open for writing; `.failed` where it cannot be
    ///   written at all.
    package func append(_ request: NoteRequest) async throws -> String {
        let step = request.step
        if let done = try await journal.ledger.read({ try $0.noteBlock(step: step) }) { return done.token }
        guard let token = try await enqueue(.append(request), on: request.note) else {
            throw Fault(.failed, "the block of \(step) was not written")
        }
        return token
    }

    /// Waits for the note's turn, in which what earlier writes left open is ended first.
    ///
    /// - Returns: the token of the request's block; nil for one without a request.
    func enqueue(_ wish: Wish, on note: BytePath) async throws -> String? {
        let whose = Bulkhead("the note \(note)")
        if HangWatch.shared.hangs(for: whose) {
            throw Fault(
                .transient, "\(note) has to wait: its file system does not answer", path: note, code: Fault.hanging)
        }
        return try await withCheckedThrowingContinuation { answer in
            waiting[note, default: []].append(Waiting(wish: wish, answer: answer))
            guard atWork.insert(note).inserted else { return }
            Task { await Bulkhead.$current.withValue(whose) { await self.serve(note) } }
        }
    }

    private func serve(_ note: BytePath) async {
        while var batch = waiting.removeValue(forKey: note) {
            do {
                try await lanes.run { try journal.presence.require(note) }
                // Another's turn may have ended a write that was open when these were asked for.
                let written = try await endOpenWrites(of: note, looking: batch.compactMap(\.wish.request?.step))
                batch.removeAll { entry in
                    switch entry.wish {
                    case .ending: entry.answer.resume(returning: nil)
                    case .look: return false
                    case .append(let request):
                        guard let token = written[request.step] else { return false }
                        entry.answer.resume(returning: token)
                    }
                    return true
                }
                guard !batch.isEmpty else { continue }
                let requests = batch.compactMap(\.wish.request).sorted { ($0.order, $0.step) < ($1.order, $1.step) }
                let blocks = try await write(requests, to: note)
                let tokens = Dictionary(blocks.map { ($0.step, $0.token) }) { first, _ in first }
                for entry in batch { entry.answer.resume(returning: entry.wish.request.flatMap { tokens[$0.step] }) }
            } catch {
                for entry in batch { entry.answer.resume(throwing: error) }
            }
        }
        atWork.remove(note)
    }

    private func write(_ requests: [NoteRequest], to note: BytePath) async throws -> [NoteBlockRecord] {
        // Held for the whole turn: what the note's folder is called meanwhile is no matter.
        let files = journal.files()
        if requests.isEmpty {
            guard try await look(at: note, files, patiently: true) == true else { return [] }
        }
        inWork.begin([note])
        defer {
            inWork.end([note])
            heldUp[note] = nil
        }
        try await waitForEditor(of: note, files)
        var delay = 0.02
        var busySince: ContinuousClock.Instant?
        for _ in 0..<10_000 {
            let attempt = try await lanes.run { try inPlace.append(requests, to: note, files) }
            switch attempt {
            case .written(let blocks):
                tell(blocks, requests, note)
                return blocks
            case .replaced:
                continue
            case .missing:
                guard !requests.isEmpty else { return [] }
                if let blocks = try await create(requests, at: note, files) { return blocks }
            case .unsupported:
                return try await replace(requests, note, files)
            case .busy:
                let since = busySince ?? .now
                busySince = since
                if since.duration(to: .now) > .seconds(patience.open) {
                    if try await hasWriter(note, files) {
                        throw Fault(
                            .transient, "\(note) is kept open for writing by \(files.openers(note))", path: note)
                    }
                    return try await replace(requests, note, files)
                }
                try hold(note, "kept open by \(files.openers(note))")
                try await Task.sleep(for: .seconds(delay))
                delay = min(0.5, delay * 1.5)
            }
        }
        throw Fault(.transient, "\(note) is being replaced all the time", path: note)
    }

    /// An editor that has the note open, perhaps with unsaved changes, gets time to save them first.
    private func waitForEditor(of note: BytePath, _ files: HeldFiles) async throws {
        let start = ContinuousClock.now
        var delay = 0.1
        var seen: Fingerprint?
        while let lock = try await lanes.run({ try files.editorLock(on: note) }) {
            if start.duration(to: .now) > .seconds(patience.editor) {
                log.info("\(note) is open in an editor (\(lock)); writing all the same, its save is watched")
                return
            }
            // What is saved meanwhile holds blocks, or has lost some: the next save may tell another tale.
            let now = try await lanes.run { try files.statusFollowing(note)?.fingerprint }
            if now != seen, try await look(at: note, files) != nil { seen = now }
            try hold(note, "open in an editor (\(BytePath(bytes: lock.name)))")
            try await Task.sleep(for: .seconds(delay))
            delay = min(1, delay * 1.5)
        }
    }

    /// Says why a note has to wait, for `status`; an agent that is stopping waits no longer.
    private func hold(_ note: BytePath, _ reason: String) throws {
        guard !isStopping else {
            throw Fault(.transient, "\(note) is \(reason), and the agent is stopping", path: note)
        }
        heldUp[note] = reason
    }

    /// The notes that cannot be written just now, and why.
    package func waitingFor() -> [BytePath: String] { heldUp }

    /// From now on nothing waits for a note that somebody has open.
    package func stopWaiting() { isStopping = true }

    /// A note counts as missing only after the settle time without a backup or a lock beside it: editors rename it away
    /// for a moment while they save.
    private func create(
        _ requests: [NoteRequest], at note: BytePath, _ files: HeldFiles
    ) async throws -> [NoteBlockRecord]? {
        let start = ContinuousClock.now
        let backup = BytePath(bytes: note.bytes + [UInt8(ascii: "~")])
        while true {
            let waited = start.duration(to: .now)
            let isBeingSaved = try await lanes.run {
                try files.status(backup) != nil || files.editorLock(on: note) != nil
            }
            guard waited < .seconds(patience.settle) || isBeingSaved && waited < .seconds(patience.editor) else {
                break
            }
            if try await lanes.run({ try files.status(note) != nil }) { return nil }
            try await Task.sleep(for: .milliseconds(50))
        }
        guard case .written(let blocks) = try await lanes.run({ try inPlace.create(requests, at: note, files) })
        else { return nil }
        tell(blocks, requests, note)
        return blocks
    }

    private func replace(
        _ requests: [NoteRequest], _ note: BytePath, _ files: HeldFiles
    ) async throws -> [NoteBlockRecord] {
        if requests.isEmpty {
            guard try await look(at: note, files, patiently: true) == true else { return [] }
        }
        let settle = patience.settle
        let exchange = exchange
        let lanes = lanes
        let written = try await lanes.run {
            try exchange.append(requests, to: note, files, quietFor: settle)
        }
        tell(written.blocks, requests, note)
        let displaced = written.displaced
        let log = log
        Task {
            // Whoever had the old file open may still write into it; for a minute that is merged.
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                log.debug("the replaced version of \(note) is looked at again at the next start")
                return
            }
            do {
                try await lanes.run { try exchange.retire(displaced) }
            } catch {
                log.error("the replaced version of \(note) is kept as \(displaced.path): \(explain(error))")
            }
        }
        return written.blocks
    }

    private func hasWriter(_ note: BytePath, _ files: HeldFiles) async throws -> Bool {
        try await lanes.run { Lease.probeWriters(try files.openFollowing(note)) == .busy }
    }

    // MARK: What others save

    /// Called when somebody else's version of a note has settled: what they have held is kept, and what a save has lost
    /// without knowing it is put back, in the note's turn (`docs/design/stale-buffers.md`).
    package func noteWasSaved(_ note: BytePath) async throws {
        do {
            _ = try await enqueue(.look, on: note)
        } catch let fault as Fault where fault.kind == .transient {
            let owes = try await journal.ledger.read { try $0.missingBlocks(note) }.contains { $0.isWiped }
            guard owes, !isStopping, owed.insert(note).inserted else { return }
            log.warning("blocks that \(note) has lost cannot be put back yet: \(fault.message)")
            Task { await self.putBack(note) }
        }
    }

    /// Tries again and again; the ledger remembers what is owed, should the agent end meanwhile.
    private func putBack(_ note: BytePath) async {
        defer { owed.remove(note) }
        var delay = 5.0
        while !isStopping {
            do {
                try await Task.sleep(for: .seconds(delay))
                delay = min(60, delay * 1.5)
                _ = try await enqueue(.look, on: note)
                return
            } catch let fault as Fault where fault.kind == .transient {
                log.debug("\(note) still lacks blocks: \(fault.message)")
            } catch is CancellationError {
                return
            } catch {
                log.error("blocks that a save lost cannot be put back into \(note): \(explain(error))")
                return
            }
        }
    }

    /// - Parameter patiently: whether somebody who writes is waited for: a close without a change is no event.
    /// - Returns: whether blocks are to be put back; nil where somebody is writing.
    private func look(at note: BytePath, _ files: HeldFiles, patiently: Bool = false) async throws -> Bool? {
        let look = NoteLook(journal: journal)
        for _ in 0..<(patiently ? 50 : 1) {
            switch try await lanes.run({ try look.look(at: note, files) }) {
            case .nothing: return false
            case .busy:
                if patiently, !isStopping { try await Task.sleep(for: .milliseconds(100)) }
            case .seen(let judged, let lost):
                for block in judged {
                    if let message = MetNote.message(block, note) { log.notice("\(message)") }
                }
                return lost > 0
            }
        }
        return nil
    }

    private func tell(_ blocks: [NoteBlockRecord], _ requests: [NoteRequest], _ note: BytePath) {
        let asked = Set(requests.map(\.step))
        for block in blocks where !asked.contains(block.step) {
            log.notice("put ^\(block.token) back into \(note): a save that did not know it had removed it")
        }
    }
}
