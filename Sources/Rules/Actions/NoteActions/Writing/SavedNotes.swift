import Ledger
import Logging
import Platform
import Rules

/// Handles notes saved by others. Records which blocks a save contains, and restores those lost from a stale buffer, at
/// once or as soon as the note can be written (`docs/design/stale-buffers.md`).
actor SavedNotes {
    /// Examines a note in its turn and restores what it lacks.
    typealias Look = @concurrent @Sendable (BytePath) async throws -> Void

    private let journal: EffectJournal
    private let timeout: EditorTimeout
    private let log: Logger
    /// Seconds until the first retry.
    private let delay: Double
    /// Notes with lost blocks that could not be restored yet.
    private var owed: Set<BytePath> = []

    init(journal: EffectJournal, timeout: EditorTimeout, log: Logger, delay: Double = 5) {
        self.journal = journal
        self.timeout = timeout
        self.log = log
        self.delay = delay
    }

    /// Called when someone else's version of a note has settled.
    ///
    /// - Throws: errors of `look`, except `Fault(.transient)`, which is retried until it succeeds.
    func noteWasSaved(_ note: BytePath, look: @escaping Look) async throws {
        do {
            try await look(note)
        } catch let fault as Fault where fault.kind == .transient {
            let owes = try await journal.ledger.read { try $0.missingBlocks(note) }.contains { $0.isWiped }
            guard owes, !timeout.isStopping, owed.insert(note).inserted else { return }
            log.warning("blocks that \(note) has lost cannot be restored yet: \(fault.message)")
            Task { await self.putBack(note, look) }
        }
    }

    /// Pending blocks are in the ledger, so nothing is lost if the agent ends in the meantime.
    private func putBack(_ note: BytePath, _ look: Look) async {
        defer { owed.remove(note) }
        var backoff = Backoff(first: .seconds(delay), longest: .seconds(60))
        while !timeout.isStopping {
            do {
                try await Task.sleep(for: backoff.next())
                try await look(note)
                return
            } catch let fault as Fault where fault.kind == .transient {
                log.debug("\(note) still lacks blocks: \(fault.message)")
            } catch is CancellationError {
                return
            } catch {
                log.error("blocks lost in a save cannot be restored to \(note): \(explain(error))")
                return
            }
        }
    }
}
