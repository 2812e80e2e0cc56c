import Foundation
import Platform
import Synchronization

/// Timeouts of the note writer.
package struct NoteTimeouts: Sendable {
    /// Seconds to wait while a program has the note open. After that, a note with readers only is exchanged, and one
    /// with a writer is retried later.
    package var open: Double = 30
    /// Seconds to wait while an editor's swap or lock file is beside the note.
    package var editor: Double = 60
    /// Seconds that a missing note must stay missing, and that a note without leases must be quiet.
    package var settle: Double = 1

    package init() {}
}

/// Waits for people who have a note open, so that they can save first, and reports the waits to `status`. When the
/// agent stops, waits end at once. Not an actor, because each write passes through and would change threads.
final class EditorTimeout: Sendable {
    private struct State {
        var isStopping = false
        var heldUp: [BytePath: String] = [:]
    }

    let limits: NoteTimeouts
    private let pool: BlockingPool
    private let state = Mutex(State())

    init(_ limits: NoteTimeouts, _ pool: BlockingPool) {
        self.limits = limits
        self.pool = pool
    }

    var isStopping: Bool { state.withLock(\.isStopping) }

    /// The notes whose writes are waiting, and why.
    var heldUp: [BytePath: String] { state.withLock(\.heldUp) }

    /// Ends all waits.
    func stop() { state.withLock { $0.isStopping = true } }

    /// The note's write no longer waits.
    func end(_ note: BytePath) { state.withLock { $0.heldUp[note] = nil } }

    private func hold(_ note: BytePath, _ reason: String) { state.withLock { $0.heldUp[note] = reason } }

    /// Gives an editor that has the note open, perhaps with unsaved changes, time to save.
    ///
    /// - Parameter changed: called whenever the note has changed; called again if it returns false because it could not
    ///   look.
    /// - Returns: the editor's lock if it stays; nil if there is none.
    /// - Throws: `Fault(.transient)` if the agent is stopping.
    func waitForEditor(
        of note: BytePath, _ files: HeldFiles, changed: @Sendable () async throws -> Bool
    ) async throws -> BytePath? {
        let start = ContinuousClock.now
        var delay = 0.1
        var seen: Fingerprint?
        while let lock = try await pool.run({ try files.editorLock(on: note) }) {
            if start.duration(to: .now) > .seconds(limits.editor) { return lock }
            // A save in the meantime may contain or lack blocks, and the next one may differ again.
            let now = try await pool.run { try files.statusFollowing(note)?.fingerprint }
            if now != seen, try await changed() { seen = now }
            try await pause(note, "open in an editor (\(BytePath(bytes: lock.name)))", delay)
            delay = min(1, delay * 1.5)
        }
        return nil
    }

    /// Waits briefly for programs that have the note open.
    ///
    /// - Parameters:
    ///   - start: when the wait began.
    ///   - tries: number of waits so far.
    /// - Returns: false once the timeout has passed.
    /// - Throws: `Fault(.transient)` if the agent is stopping.
    func waitForOpeners(
        of note: BytePath, _ files: HeldFiles, since start: ContinuousClock.Instant, tries: Int
    ) async throws -> Bool {
        guard start.duration(to: .now) <= .seconds(limits.open) else { return false }
        let openers = try await pool.run { files.openers(note) }
        try await pause(note, "kept open by \(openers)", min(0.5, 0.02 * pow(1.5, Double(min(tries, 20)))))
        return true
    }

    /// A note counts as missing only after the settle time without a backup or lock beside it, because editors rename
    /// it away briefly while saving.
    ///
    /// - Returns: whether it is still missing.
    func staysMissing(_ note: BytePath, _ files: HeldFiles) async throws -> Bool {
        let start = ContinuousClock.now
        let backup = BytePath(bytes: note.bytes + [UInt8(ascii: "~")])
        while true {
            let waited = start.duration(to: .now)
            let isBeingSaved = try await pool.run {
                try files.status(backup) != nil || files.editorLock(on: note) != nil
            }
            guard waited < .seconds(limits.settle) || isBeingSaved && waited < .seconds(limits.editor) else {
                return true
            }
            if try await pool.run({ try files.status(note) != nil }) { return false }
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
