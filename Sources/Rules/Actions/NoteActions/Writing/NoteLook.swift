import Glibc
import Ledger
import Platform
import Rules

/// Examines a shared note without writing into it, and stores what someone's save means for the agent's blocks. Blocks.
struct NoteLook {
    enum Sight: Sendable {
        /// The agent knows nothing of it, or it does not exist. A note made there later is judged then.
        case nothing
        /// Someone is writing into it; it is examined once they close it.
        case busy
        case seen(judged: [NoteMemory.Block], lost: Int)
    }

    let journal: EffectJournal

    /// Only in the note's turn.
    func look(at note: BytePath, _ files: HeldFiles) throws -> Sight {
        guard try journal.ledger.readBlocking({ try $0.noteState(note) != nil }) else { return .nothing }
        let seen: NoteBytes
        do {
            guard let read = try read(note, files.openFollowing(note)) else { return .busy }
            seen = read
        } catch let fault as Fault where fault.errno == ENOENT {
            return .nothing
        }
        let snapshot = try NoteSnapshot(note, seen.hash, journal.ledger) { try seen.read() }
        try journal.ledger.writeBlocking { try snapshot.commit(in: $0) }
        return .seen(judged: snapshot.judged, lost: snapshot.lost.count)
    }

    /// nil while someone is writing.
    private func read(_ note: BytePath, _ file: Descriptor) throws -> NoteBytes? {
        let before = try file.status()
        guard before.kind == .file else { return nil }
        let answer = Lease.acquireShared(file)
        defer { if answer == .granted { Lease.release(file) } }
        guard answer != .busy else { return nil }
        let seen = try NoteBytes(file, of: note, journal.ledger)
        // Without a lease, the fingerprint reveals a concurrent save.
        return try file.status().fingerprint == before.fingerprint ? seen : nil
    }
}
