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
        let last = try journal.ledger.readBlocking { try $0.lastNoteHash(note) }
        let now: (hash: ContentHash, bytes: [UInt8]?)
        do {
            guard let read = try read(files.openFollowing(note), unless: last) else { return .busy }
            now = read
        } catch let fault as Fault where fault.errno == ENOENT {
            return .nothing
        }
        let snapshot = try NoteSnapshot(note, now.hash, journal.ledger) {
            guard let bytes = now.bytes else {
                throw Fault(.transient, "\(note) was written while it was looked at", path: note)
            }
            return bytes
        }
        try journal.ledger.writeBlocking { try snapshot.commit(in: $0) }
        return .seen(judged: snapshot.judged, lost: snapshot.lost.count)
    }

    /// Its hash, and the whole of it unless it is the version that is known; nil while somebody writes.
    private func read(
        _ file: Descriptor, unless known: ContentHash?
    ) throws -> (hash: ContentHash, bytes: [UInt8]?)? {
        let before = try file.status()
        guard before.kind == .file else { return nil }
        let answer = Lease.acquireShared(file)
        defer { if answer == .granted { Lease.release(file) } }
        guard answer != .busy else { return nil }
        let hash = try ContentHash.of(file)
        let bytes = try hash == known ? nil : file.readAll()
        // Where there is no lease, a save that began meanwhile shows.
        return try file.status().fingerprint == before.fingerprint ? (hash, bytes) : nil
    }
}
