import Ledger
import Platform
import Rules

/// A note as it stands in its file: its hash, and its bytes where the version is not known already. Where there are bytes the
/// hash is theirs, whatever has happened between two reads. Blocks.
struct NoteBytes: Sendable {
    let hash: ContentHash
    private let bytes: [UInt8]?
    private let note: BytePath

    /// - Parameter last: a draft that serves instead of the bytes; nil where none is needed.
    /// - Throws: `Fault(.refused)` for a file that is too long for a note.
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

    /// - Throws: `Fault(.transient)` where the version was known when it was looked at, and is not any more.
    func read() throws -> [UInt8] {
        guard let bytes else { throw Fault(.transient, "\(note) was written while it was looked at", path: note) }
        return bytes
    }
}
