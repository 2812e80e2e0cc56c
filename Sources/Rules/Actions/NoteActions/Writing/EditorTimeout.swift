import Foundation
import Platform
import Synchronization

/// How long the note writer waits.
package struct NoteTimeouts: Sendable {
    /// Seconds to wait while somebody has the note open; then a mere reader is written past, a writer is come back to.
    package var open: Double = 30
    /// Seconds to wait while an editor's swap or lock file stands beside the note.
    package var editor: Double = 60
    /// Seconds for which a missing note must have been missing, and a note without leases quiet.
    package var settle: Double = 1

    package init() {}
}

/// Waiting for people who have a note open, so that they can save first; tells for `status` who is waited for. Whoever is
/// stopping waits no longer. No actor: each write comes by, and would change its thread for it.
final class EditorTimeout: Sendable {
    private struct State {
        var isStopping = false
        var heldUp: [BytePath: String] = [:]
    }

    let limits: NoteTimeouts
    private let lanes: BlockingPool
    private let state = Mutex(State())

    init(_ limits: NoteTimeouts, _ lanes: BlockingPool) {
        self.limits = limits
        self.lanes = lanes
    }

    var isStopping: Bool { state.withLock(\.isStopping) }

    /// The notes that wait just now, and why.
    var heldUp: [BytePath: String] { state.withLock(\.heldUp) }

    /// From now on nothing is waited for.
    func stop() { state.withLock { $0.isStopping = true } }

    /// The note does not wait any more.
    func end(_ note: BytePath) { state.withLock { $0.heldUp[note] = nil } }

    private func hold(_ note: BytePath, _ reason: String) { state.withLock { $0.heldUp[note] = reason } }

    /// An editor that has the note open, perhaps with unsaved changes, gets time to save them first.
    ///
    /// - Parameter changed: called whenever the note is another than before, and again where it says that it could not
    ///   look.
    /// - Returns: the editor's sign beside the note, where that stays; nil where there is none.
    /// - Throws: `Fault(.transient)` where the agent is stopping.
    func waitForEditor(
        of note: BytePath, _ files: HeldFiles, changed: @Sendable () async throws -> Bool
    ) async throws -> BytePath? {
        let start = ContinuousClock.now
        var delay = 0.1
        var seen: Fingerprint?
        while let lock = try await lanes.run({ try files.editorLock(on: note) }) {
            if start.duration(to: .now) > .seconds(limits.editor) { return lock }
            // What is saved meanwhile holds blocks, or has lost some: the next save may tell another tale.
            let now = try await lanes.run { try files.statusFollowing(note)?.fingerprint }
            if now != seen, try await changed() { seen = now }
            try await pause(note, "open in an editor (\(BytePath(bytes: lock.name)))", delay)
            delay = min(1, delay * 1.5)
        }
        return nil
    }

    /// Waits a moment for whoever has the note open.
    ///
    /// - Parameters:
    ///   - start: since when they are waited for.
    ///   - tries: how often they were.
    /// - Returns: false where they have been waited for long enough.
    /// - Throws: `Fault(.transient)` where the agent is stopping.
    func waitForOpeners(
        of note: BytePath, _ files: HeldFiles, since start: ContinuousClock.Instant, tries: Int
    ) async throws -> Bool {
        guard start.duration(to: .now) <= .seconds(limits.open) else { return false }
        let openers = try await lanes.run { files.openers(note) }
        try await pause(note, "kept open by \(openers)", min(0.5, 0.02 * pow(1.5, Double(min(tries, 20)))))
        return true
    }

    /// A note counts as missing only after the settle time without a backup or a lock beside it: editors rename it away
    /// for a moment while they save.
    ///
    /// - Returns: whether it is still missing then.
    func staysMissing(_ note: BytePath, _ files: HeldFiles) async throws -> Bool {
        let start = ContinuousClock.now
        let backup = BytePath(bytes: note.bytes + [UInt8(ascii: "~")])
        while true {
            let waited = start.duration(to: .now)
            let isBeingSaved = try await lanes.run {
                try files.status(backup) != nil || files.editorLock(on: note) != nil
            }
            guard waited < .seconds(limits.settle) || isBeingSaved && waited < .seconds(limits.editor) else {
                return true
            }
            if try await lanes.run({ try files.status(note) != nil }) { return false }
            if isBeingSaved { hold(note, "renamed away by an editor that is saving it") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func pause(_ note: BytePath, _ reason: String, _ seconds: Double) async throws {
        guard !isStopping else {
            throw Fault(.transient, "\(note) is \(reason), and the agent is stopping", path: note)
        }
        hold(note, reason)
        try await Task.sleep(for: .seconds(seconds))
    }
}
