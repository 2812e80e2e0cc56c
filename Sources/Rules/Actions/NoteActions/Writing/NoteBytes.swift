import Ledger
import Platform
import Rules

/// A note's current hash, and its bytes unless the version is already known. If there are bytes, the hash is always
/// theirs, even if the file changed between two reads. Blocks.
struct NoteBytes: Sendable {
    let hash: ContentHash
    private let bytes: [UInt8]?
    private let note: BytePath

    /// - Parameter last: a cached draft that replaces the bytes; nil if no draft is needed.
    /// - Throws: `Fault(.refused)` if the file is too long for a note.
    init(_ file: Descriptor, of note: BytePath, _ ledger: Ledger, _ last: LastDraft? = nil) throws {
        self.note = note
        let found = try file.hashAll()
        let known = try ledger.readBlocking { try $0.lastNoteHash(note) }
        if found == known, last?.holds(found) ?? true {
            (hash, bytes) = (found, nil)
        } else {
            let read = try file.readAll()
            (hash, bytes) = (ContentHash(of: read), read)
        }
    }

    /// - Throws: `Fault(.transient)` if the version was known at first but no longer is.
    func read() throws -> [UInt8] {
        guard let bytes else { throw Fault(.transient, "\(note) was written while it was read", path: note) }
        return bytes
    }
}
