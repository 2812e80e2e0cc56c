import Foundation
import Ledger
import Logging
import Platform
import Rules

/// Tells whether somebody has read a file since it was asked to watch (for the stale-buffer guard).
package protocol ReadWatch: Sendable {
    /// Begins, or begins anew, to watch. Blocks.
    func watchReads(of path: BytePath) throws
    /// Whether it was read before the first save since then; true in doubt.
    func readsSeen(of path: BytePath) -> Bool
    /// Blocks.
    func stopWatchingReads(of path: BytePath)
    /// Runs `body`, whose own reading of `path` does not count.
    func uncounted<R>(_ path: BytePath, _ body: () throws -> R) rethrows -> R
}

extension ReadWatch {
    package func uncounted<R>(_ path: BytePath, _ body: () throws -> R) rethrows -> R { try body() }
}

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
    private struct Waiting {
        /// Nil for one that only asks that earlier writes be ended.
        let request: NoteRequest?
        /// Whether the block had been written, and was lost.
        let restores: Bool
        let answer: CheckedContinuation<String?, any Error>
    }

    let journal: EffectJournal
    let inWork: PathsInWork
    let inPlace: InPlaceNote
    let exchange: ExchangedNote
    let reads: any ReadWatch
    private let patience: NotePatience
    let lanes = BlockingLanes("notes", count: 4)
    let log: Logger
    private var waiting: [BytePath: [Waiting]] = [:]
    private var atWork: Set<BytePath> = []
    private var armed: Set<BytePath> = []
    /// Steps whose blocks are being put back.
    private var restoring: Set<String> = []
    private var isStopping = false
    private var heldUp: [BytePath: String] = [:]

    /// - Parameters:
    ///   - device: the suffix for anchors that a note already holds.
    ///   - backups: where a copy is kept of a note that has to be replaced instead of written in place.
    package init(
        journal: EffectJournal, inWork: PathsInWork, reads: any ReadWatch, patience: NotePatience, device: String,
        backups: BytePath, log: Logger
    ) {
        self.journal = journal
        self.inWork = inWork
        self.reads = reads
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
        guard let token = try await enqueue(request, on: request.note) else {
            throw Fault(.failed, "the block of \(step) was not written")
        }
        return token
    }

    /// Waits for the note's turn, in which what earlier writes left open is ended first.
    ///
    /// - Returns: the token of the request's block; nil for one without a request.
    func enqueue(_ request: NoteRequest?, on note: BytePath, restores: Bool = false) async throws -> String? {
        try await withCheckedThrowingContinuation { answer in
            waiting[note, default: []].append(Waiting(request: request, restores: restores, answer: answer))
            if atWork.insert(note).inserted { Task { await self.serve(note) } }
        }
    }

    private func serve(_ note: BytePath) async {
        while var batch = waiting.removeValue(forKey: note) {
            do {
                try await lanes.run { try journal.presence.require(note) }
                // Another's turn may have ended a write that was open when these were asked for.
                let asked = batch.filter { !$0.restores }.compactMap(\.request?.step)
                let written = try await endOpenWrites(of: note, looking: asked)
                batch.removeAll { entry in
                    let token = entry.request.flatMap { written[$0.step] }
                    guard entry.request == nil || token != nil else { return false }
                    entry.answer.resume(returning: token)
                    return true
                }
                let requests = batch.compactMap(\.request).sorted { ($0.order, $0.step) < ($1.order, $1.step) }
                let blocks = try await write(requests, to: note)
                let tokens = Dictionary(blocks.map { ($0.step, $0.token) }) { first, _ in first }
                for entry in batch { entry.answer.resume(returning: entry.request.flatMap { tokens[$0.step] }) }
            } catch {
                for entry in batch { entry.answer.resume(throwing: error) }
            }
        }
        atWork.remove(note)
    }

    private func write(_ requests: [NoteRequest], to note: BytePath) async throws -> [NoteBlockRecord] {
        guard let root = requests.first?.root else { return [] }
        inWork.begin([note])
        defer {
            inWork.end([note])
            heldUp[note] = nil
        }
        try await waitForEditor(of: note)
        var delay = 0.02
        let reads = reads
        var busySince: ContinuousClock.Instant?
        for _ in 0..<10_000 {
            let lockedBy = WorkNames.editorLock(on: note)
            let finish = guards(requests, note, editorOpen: lockedBy != nil)
            let attempt = try await lanes.run {
                try reads.uncounted(note) { try inPlace.append(requests, to: note, root: root, finish: finish) }
            }
            switch attempt {
            case .written(let blocks):
                await arm(note)
                return blocks
            case .replaced:
                continue
            case .missing:
                if let blocks = try await create(requests, at: note) { return blocks }
            case .unsupported:
                return try await replace(requests, note)
            case .busy:
                let since = busySince ?? .now
                busySince = since
                if since.duration(to: .now) > .seconds(patience.open) {
                    if try await hasWriter(note) {
                        throw Fault(
                            .transient, "\(note) is kept open for writing by \(Openers.describe(note))", path: note)
                    }
                    return try await replace(requests, note)
                }
                try hold(note, "kept open by \(Openers.describe(note))")
                try await Task.sleep(for: .seconds(delay))
                delay = min(0.5, delay * 1.5)
            }
        }
        throw Fault(.transient, "\(note) is being replaced all the time", path: note)
    }

    /// An editor that has the note open, perhaps with unsaved changes, gets time to save them first.
    private func waitForEditor(of note: BytePath) async throws {
        let start = ContinuousClock.now
        var delay = 0.1
        while let lock = WorkNames.editorLock(on: note) {
            if start.duration(to: .now) > .seconds(patience.editor) {
                log.info("\(note) is open in an editor (\(lock)); writing all the same, its save is watched")
                return
            }
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
    private func create(_ requests: [NoteRequest], at note: BytePath) async throws -> [NoteBlockRecord]? {
        let start = ContinuousClock.now
        let backup = BytePath(bytes: note.bytes + [UInt8(ascii: "~")])
        while true {
            let waited = start.duration(to: .now)
            let isBeingSaved = try existsNow(backup) || WorkNames.editorLock(on: note) != nil
            guard waited < .seconds(patience.settle) || isBeingSaved && waited < .seconds(patience.editor) else {
                break
            }
            if try existsNow(note) { return nil }
            try await Task.sleep(for: .milliseconds(50))
        }
        let finish = guards(requests, note, editorOpen: false)
        guard
            case .written(let blocks) = try await lanes.run({ try inPlace.create(requests, at: note, finish: finish) })
        else { return nil }
        await arm(note)
        return blocks
    }

    private func replace(_ requests: [NoteRequest], _ note: BytePath) async throws -> [NoteBlockRecord] {
        let finish = guards(requests, note, editorOpen: WorkNames.editorLock(on: note) != nil)
        let settle = patience.settle
        let exchange = exchange
        let lanes = lanes
        let written = try await lanes.run { try exchange.append(requests, to: note, quietFor: settle, finish: finish) }
        await arm(note)
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

    private func hasWriter(_ note: BytePath) async throws -> Bool {
        try await lanes.run { Lease.probeWriters(try Descriptor(note, follow: true)) == .busy }
    }

    private func existsNow(_ path: BytePath) throws -> Bool { try FileStatus.of(path) != nil }

    // MARK: The stale-buffer guard

    /// What is remembered of blocks with the write that holds them. Blocks of earlier writes that somebody has read
    /// since need no guard any more: if such a person removes one, it stays removed.
    private func guards(
        _ requests: [NoteRequest], _ note: BytePath, editorOpen: Bool
    ) -> @Sendable (LedgerTransaction, [NoteBlockRecord]) throws -> Void {
        let byStep = Dictionary(requests.map { ($0.step, $0) }) { first, _ in first }
        let wereSeen = !armed.contains(note) || reads.readsSeen(of: note)
        return { transaction, blocks in
            if wereSeen {
                for earlier in try transaction.guards(on: note) where !earlier.editorOpen {
                    try transaction.dropGuard(note, step: earlier.step)
                }
            }
            for block in blocks {
                guard var request = byStep[block.step] else { continue }
                request.token = block.token
                try transaction.addGuard(
                    GuardRecord(
                        note: note, step: block.step, token: block.token, request: try LedgerJSON.encode(request),
                        editorOpen: editorOpen))
            }
        }
    }

    private func arm(_ note: BytePath) async {
        let reads = reads
        do {
            try await lanes.run { try reads.watchReads(of: note) }
            armed.insert(note)
        } catch {
            armed.remove(note)
            log.warning("a save that loses a block of \(note) will not be noticed: \(explain(error))")
        }
    }

    /// Called when somebody else's version of a note has settled: blocks of ours that it lacks although nobody has read
    /// them are put back under the same step; those that a person has seen and removed stay removed.
    package func noteWasSaved(_ note: BytePath) async throws {
        let guards = try await journal.ledger.read { try $0.guards(on: note) }
        guard !guards.isEmpty else { return }
        let ours = try await journal.ledger.read { try $0.lastNoteResult(note) }
        let reads = reads
        let settled = try await lanes.run { () -> (held: Set<String>, isOurs: Bool)? in
            guard let file = try FileStatus.of(note), file.kind == .file else { return nil }
            let bytes = try reads.uncounted(note) { try Descriptor(note, follow: true).readAll() }
            return (NoteText.tokens(bytes), ContentHash(of: bytes) == ours)
        }
        guard let (held, isOurs) = settled else { return }
        let seen = armed.contains(note) ? reads.readsSeen(of: note) : nil
        // Our own write on top of a save is no save: what it holds goes on being guarded against the next one.
        if !isOurs {
            armed.remove(note)
            try await lanes.run { reads.stopWatchingReads(of: note) }
        }
        let lost = guards.filter { !held.contains($0.token) && !restoring.contains($0.step) }
        let wiped = lost.filter { $0.editorOpen || seen == false }
        let removed = lost.filter { !($0.editorOpen || seen == false) }
        // A block that is to be put back keeps its guard until it is there: a crash must not forget it.
        let kept = restoring.union(wiped.map(\.step))
        restoring = kept
        let settledFor = isOurs ? removed : guards
        try await journal.ledger.write { transaction in
            for record in settledFor where !kept.contains(record.step) {
                try transaction.dropGuard(note, step: record.step)
            }
            for var record in wiped {
                record.editorOpen = true
                try transaction.addGuard(record)
            }
            for record in removed {
                try transaction.note(
                    "removed", "the block ^\(record.token) was taken out of \(note); it stays out",
                    job: record.step.split(separator: ".").first.map(String.init))
            }
        }
        // All at once: each would wait for an editor anew.
        await withTaskGroup(of: Void.self) { group in
            for record in wiped { group.addTask { await self.restore(record) } }
        }
    }

    /// Puts a block back that was lost in a save, however often the note has to be waited for.
    private func restore(_ record: GuardRecord) async {
        defer { restoring.remove(record.step) }
        let note = record.note
        while !isStopping {
            do {
                _ = try await enqueue(
                    try LedgerJSON.decode(NoteRequest.self, from: record.request), on: note, restores: true)
                try await journal.ledger.write { transaction in
                    try transaction.note(
                        "restored",
                        "the block ^\(record.token) was lost in a save that did not know it; it is back in \(note)",
                        job: record.step.split(separator: ".").first.map(String.init))
                }
                log.notice("put ^\(record.token) back into \(note): a save that did not know it had removed it")
                return
            } catch let fault as Fault where fault.kind == .transient {
                log.warning("^\(record.token) cannot be put back yet: \(fault.message)")
                do {
                    try await Task.sleep(for: .seconds(5))
                } catch {
                    return
                }
            } catch {
                log.error("^\(record.token), lost in a save, cannot be put back into \(note): \(explain(error))")
                return
            }
        }
    }
}
