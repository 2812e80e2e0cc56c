import Glibc
import Ledger
import Platform
import Rules

/// Looking at a note that others write as well, without writing into it: what somebody's save means for the blocks is
/// decided and kept. Blocks.
struct NoteLook {
    enum Sight: Sendable {
        /// The agent remembers nothing of it, or it is not there: whoever makes it anew is judged then.
        case nothing
        /// Somebody is writing into it: it is looked at when they have closed it.
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

    /// Nil while somebody writes.
    private func read(_ note: BytePath, _ file: Descriptor) throws -> NoteBytes? {
        let before = try file.status()
        guard before.kind == .file else { return nil }
        let answer = Lease.acquireShared(file)
        defer { if answer == .granted { Lease.release(file) } }
        guard answer != .busy else { return nil }
        let seen = try NoteBytes(file, of: note, journal.ledger)
        // Where there is no lease, a save that began meanwhile shows.
        return try file.status().fingerprint == before.fingerprint ? seen : nil
    }
}
