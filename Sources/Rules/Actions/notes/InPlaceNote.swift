import Glibc
import Ledger
import Platform
import Rules

/// Writing into a note in place, under the kernel's own mutual exclusion (design section 3). Everything here blocks.
struct InPlaceNote {
    enum Attempt: Sendable {
        case written([NoteBlockRecord])
        /// Somebody has the note open.
        case busy
        /// No lease can be had on this file.
        case unsupported
        case missing
        /// The name stood for another file when the write was done: nothing has happened.
        case replaced
    }

    let journal: EffectJournal
    let device: String

    /// Appends the blocks under a write lease: journaled, written, synced, and void if the note was renamed over.
    ///
    /// - Parameter finish: called in the transaction that ends the write, with what became of the note.
    func append(
        _ requests: [NoteRequest], to note: BytePath, root: BytePath,
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void
    ) throws -> Attempt {
        guard let file = try open(note, root) else { return .missing }
        switch Lease.takeExclusive(file) {
        case .busy: return .busy
        case .unsupported: return .unsupported
        case .granted: break
        }
        var isHeld = true
        defer { if isHeld { Lease.release(file) } }
        let before = try file.readAll()
        let composed = try ComposedNote(
            before, requests, device: device, reserved: journal.reservedTokens(note, requests))
        let write = try record(note, file, before, composed)
        let id = try begin(write)
        try put(write, id, into: file, insteadOf: before.count)
        guard try stillNames(file, note, root) else {
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
            return .replaced
        }
        let fingerprint = try file.status().fingerprint
        Lease.release(file)
        isHeld = false
        try journal.ledger.writeBlocking { transaction in
            try transaction.endNoteWrite(id)
            try journal.wrote(
                note, base: write.base, fingerprint, write.result, blocks: composed.blocks.map(\.token), in: transaction
            )
            try finish(transaction, composed.blocks)
        }
        return .written(composed.blocks)
    }

    /// Replaces the tail of a note under a write lease, for undo: `change` gets the whole note and gives it changed.
    ///
    /// - Returns: nil where it was written, else why not.
    func rewrite(_ note: BytePath, root: BytePath, change: ([UInt8]) throws -> [UInt8]) throws -> Attempt {
        guard let file = try open(note, root) else { return .missing }
        switch Lease.takeExclusive(file) {
        case .busy: return .busy
        case .unsupported: return .unsupported
        case .granted: break
        }
        defer { Lease.release(file) }
        let before = try file.readAll()
        let after = try change(before)
        let write = try record(note, file, before, after, blocks: [])
        let id = try begin(write)
        try put(write, id, into: file, insteadOf: before.count)
        guard try stillNames(file, note, root) else {
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
            return .replaced
        }
        let fingerprint = try file.status().fingerprint
        try journal.ledger.writeBlocking { transaction in
            try transaction.endNoteWrite(id)
            try journal.wrote(note, base: write.base, fingerprint, write.result, blocks: [], in: transaction)
        }
        return .written([])
    }

    /// Makes a note that does not exist: staged, synced, renamed to a name that nobody took meanwhile.
    func create(
        _ requests: [NoteRequest], at note: BytePath,
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void
    ) throws -> Attempt {
        let starter = Array((requests.first?.starter ?? "").utf8)
        let composed = try ComposedNote(
            starter, requests, device: device, reserved: journal.reservedTokens(note, requests))
        try journal.makeFolders(for: note)
        let step = requests.first?.step ?? ""
        let temporary = try Durable.stage(composed.bytes, for: note) { try journal.recordStaged($0, $1, step: step) }
        let result = ContentHash(of: composed.bytes)
        do {
            guard let status = try FileStatus.of(temporary) else { return .replaced }
            let write = NoteWriteRecord(
                note: note, device: status.device, inode: status.inode, base: ContentHash(of: []), result: result,
                position: 0, oldTail: [], newTail: [], blocks: composed.blocks)
            let id = try begin(write)
            guard try Durable.renameNew(temporary, to: note) else {
                try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
                try Durable.remove(temporary)
                return .replaced
            }
            guard let made = try FileStatus.of(note) else { return .replaced }
            try journal.ledger.writeBlocking { transaction in
                try transaction.endNoteWrite(id)
                try transaction.clearStaged(job: step)
                if let (place, relative) = journal.places.locate(note), made.inode == status.inode {
                    let version = try transaction.file(place.name, relative)?.version ?? 0
                    try transaction.setFile(
                        FileRecord(
                            place: place.name, path: relative, fingerprint: made.fingerprint, hash: result,
                            version: version + 1))
                    try transaction.addBlocks(place.name, relative, composed.blocks.map(\.token))
                }
                try finish(transaction, composed.blocks)
            }
            return .written(composed.blocks)
        } catch {
            try? Durable.remove(temporary)
            throw error
        }
    }

    private func begin(_ write: NoteWriteRecord) throws -> Int64 {
        let id = try journal.ledger.writeBlocking { try $0.beginNoteWrite(write) }
        FaultPoint.reach("write begun")
        return id
    }

    /// Writes the new tail; where that fails (a full disk) the old one is put back, so that no half block stays.
    private func put(_ write: NoteWriteRecord, _ id: Int64, into file: Descriptor, insteadOf size: Int) throws {
        let newSize = Int(write.position) + write.newTail.count
        do {
            try file.write(write.newTail, at: write.position)
            if newSize < size { try file.truncate(to: Int64(newSize)) }
            try file.sync()
        } catch {
            // Should this fail as well, the write stays open in the ledger and is mended before the next.
            try file.write(write.oldTail, at: write.position)
            try file.truncate(to: Int64(size))
            try file.sync()
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
            throw error
        }
    }

    private func open(_ note: BytePath, _ root: BytePath) throws -> Descriptor? {
        guard let relative = note.relative(to: root) else {
            throw Fault(.failed, "\(note) is not in the vault \(root)", path: note)
        }
        let file: Descriptor
        do {
            file = try SafePath.open(relative, beneath: root, O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        } catch let fault as Fault where fault.errno == EAGAIN {
            // Another agent's lease is being broken.
            throw Fault(.transient, "\(note) is leased by another process", path: note)
        }
        let status = try file.status()
        guard status.kind == .file else { throw Fault(.failed, "\(note) is not a file", path: note) }
        // A superuser's agent could write it all the same; the user has said not to.
        guard status.mode & 0o222 != 0 else {
            throw Fault(
                .failed, "\(note) is read-only; make it writable (chmod u+w), then run `steward retry`", path: note)
        }
        return file
    }

    private func stillNames(_ file: Descriptor, _ note: BytePath, _ root: BytePath) throws -> Bool {
        var found = stat()
        guard note.withCString({ stat($0, &found) }) == 0 else { return false }
        return UInt64(found.st_ino) == (try file.status().inode)
    }

    private func record(
        _ note: BytePath, _ file: Descriptor, _ before: [UInt8], _ composed: ComposedNote
    ) throws -> NoteWriteRecord {
        try record(note, file, before, composed.bytes, blocks: composed.blocks)
    }

    private func record(
        _ note: BytePath, _ file: Descriptor, _ before: [UInt8], _ after: [UInt8], blocks: [NoteBlockRecord]
    ) throws -> NoteWriteRecord {
        let common = commonPrefix(before, after)
        let status = try file.status()
        return NoteWriteRecord(
            note: note, device: status.device, inode: status.inode, base: ContentHash(of: before),
            result: ContentHash(of: after), position: Int64(common), oldTail: Array(before[common...]),
            newTail: Array(after[common...]), blocks: blocks)
    }

    private func commonPrefix(_ one: [UInt8], _ other: [UInt8]) -> Int {
        let limit = min(one.count, other.count)
        return one.withUnsafeBufferPointer { left in
            other.withUnsafeBufferPointer { right in
                var index = 0
                while index < limit, left[index] == right[index] { index += 1 }
                return index
            }
        }
    }
}
