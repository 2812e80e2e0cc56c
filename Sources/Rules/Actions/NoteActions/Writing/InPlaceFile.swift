import Glibc
import Ledger
import Platform
import Rules

/// Writes into a note in place, under the kernel's own mutual exclusion (docs/design/notes.md). All calls block.
package struct InPlaceFile {
    package enum Attempt: Sendable {
        case written([NoteBlockRecord])
        /// Another program has the note open.
        case busy
        /// The file cannot be leased.
        case unsupported
        case missing
        /// The name referred to another file after the write, or the lease might have expired; nothing was changed.
        case replaced
    }

    let journal: EffectJournal
    let device: String
    /// See ``LeasedFile/acquire(_:limit:)``.
    let limit: Duration?

    package init(journal: EffectJournal, device: String, limit: Duration? = nil) {
        self.journal = journal
        self.device = device
        self.limit = limit
    }

    /// Appends the blocks under a write lease, together with those that a save has lost. The write is journaled,
    /// performed and synced, and voided if the note was replaced in the meantime.
    ///
    /// - Parameters:
    ///   - begin: called in the transaction that begins the write.
    ///   - finish: called in the transaction that ends the write, with the written blocks.
    ///   - last: cache of the previous write's draft; receives this one's.
    func append(
        _ requests: [NoteRequest], to note: BytePath, _ files: HeldFiles, last: LastDraft = LastDraft(),
        begin: (LedgerTransaction) throws -> Void = { _ in },
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void = { _, _ in }
    ) throws -> Attempt {
        let file: Descriptor
        let leased: LeasedFile
        switch try acquire(note, files) {
        case .not(let attempt): return attempt
        case .held(let descriptor, let held): (file, leased) = (descriptor, held)
        }
        defer { leased.release() }
        let seen = try NoteBytes(file, of: note, journal.ledger, last)
        let snapshot = try NoteSnapshot(note, seen.hash, journal.ledger) { try seen.read() }
        let all = snapshot.requests(with: requests)
        guard !all.isEmpty else {
            leased.release()
            try journal.ledger.writeBlocking { try snapshot.commit(in: $0) }
            return .written([])
        }
        var draft = try last.take(seen.hash) ?? NoteDraft(seen.read(), of: note)
        let blocks = try draft.append(all, device: device, reserved: snapshot.reserved(but: all))
        guard draft.count <= Descriptor.textLimit else {
            throw Fault(
                .refused,
                "\(note) would have \(draft.count) bytes, more than the \(Descriptor.textLimit) that are read as text",
                path: note)
        }
        let write = try record(note, file, seen.hash, draft.hash, draft.change(of: file), blocks: blocks)
        last.keep(draft, write.result)
        let id = try noteDown(write) { transaction in
            try snapshot.commit(in: transaction)
            try NoteSnapshot.begin(requests, blocks, in: transaction)
            try begin(transaction)
        }
        guard leased.isSure else {
            leased.release()
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
            return .replaced
        }
        try put(write, id, into: leased)
        guard try stillNames(file, note, files) else { return try takeBack(write, id, from: leased) }
        let fingerprint = try file.status().fingerprint
        leased.release()
        try journal.ledger.writeBlocking { transaction in
            try transaction.endNoteWrite(id)
            try journal.wrote(
                note, base: write.base, fingerprint, write.result, blocks: blocks.map(\.token), in: transaction)
            try snapshot.written(blocks, write.result, in: transaction)
            try finish(transaction, blocks)
        }
        return .written(blocks)
    }

    /// Rewrites a note under a write lease, for undo. `change` maps the whole note; only the tail from the first
    /// difference is written.
    ///
    /// - Parameter finish: called in the transaction that ends the write.
    /// - Returns: `.written`, or why nothing was written.
    package func rewrite(
        _ note: BytePath, _ files: HeldFiles, finish: (LedgerTransaction) throws -> Void = { _ in },
        change: ([UInt8]) throws -> [UInt8]
    ) throws -> Attempt {
        let file: Descriptor
        let leased: LeasedFile
        switch try acquire(note, files) {
        case .not(let attempt): return attempt
        case .held(let descriptor, let held): (file, leased) = (descriptor, held)
        }
        defer { leased.release() }
        let before = try file.readAll()
        let after = try change(before)
        // A file without the agent's blocks, such as a draft, needs no guard.
        let isKnown = try journal.ledger.readBlocking { try $0.noteState(note) != nil }
        let base = ContentHash(of: before)
        let snapshot = try isKnown ? NoteSnapshot(note, base, journal.ledger) { before } : nil
        let common = LeasedFile.commonStart(before, after)
        let change = (position: Int64(common), old: Array(before[common...]), new: Array(after[common...]))
        let write = try record(note, file, base, ContentHash(of: after), change, blocks: [])
        let id = try noteDown(write) { try snapshot?.commit(in: $0) }
        guard leased.isSure else {
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
            return .replaced
        }
        try put(write, id, into: leased)
        guard try stillNames(file, note, files) else { return try takeBack(write, id, from: leased) }
        let fingerprint = try file.status().fingerprint
        try journal.ledger.writeBlocking { transaction in
            try transaction.endNoteWrite(id)
            try journal.wrote(note, base: write.base, fingerprint, write.result, blocks: [], in: transaction)
            try snapshot?.written([], write.result, in: transaction)
            try finish(transaction)
        }
        return .written([])
    }

    /// Creates a note: stages, syncs, and renames it to a name that is still free. As ``append``.
    func create(
        _ requests: [NoteRequest], at note: BytePath, _ files: HeldFiles,
        begin: (LedgerTransaction) throws -> Void = { _ in },
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void = { _, _ in }
    ) throws -> Attempt {
        let starter = Array(try requests.first?.starter.text().utf8 ?? "".utf8)
        let snapshot = try NoteSnapshot(note, nil, journal.ledger) { [] }
        let all = snapshot.requests(with: requests)
        let composed = try ComposedNote(starter, all, device: device, reserved: snapshot.reserved(but: all))
        try journal.makeFolders(for: note, files)
        let step = requests.first?.step ?? ""
        let mode = requests.compactMap(\.mode).reduce(mode_t(0o644), &)
        let new = try NewFile(composed.bytes, at: files.entry(note), mode: mode) {
            try journal.recordStaged($0, $1, step: step)
        }
        let result = ContentHash(of: composed.bytes)
        do {
            guard let status = try new.staged.status() else { return .replaced }
            let write = NoteWriteRecord(
                note: note, device: status.device, inode: status.inode, base: ContentHash(of: []), result: result,
                position: 0, oldTail: [], newTail: [], blocks: composed.blocks)
            let id = try noteDown(write) { transaction in
                try snapshot.commit(in: transaction)
                try NoteSnapshot.begin(requests, composed.blocks, in: transaction)
                try begin(transaction)
            }
            guard try new.name() else {
                try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
                return .replaced
            }
            guard let made = try files.status(note) else { return .replaced }
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
                try snapshot.written(composed.blocks, result, in: transaction)
                try finish(transaction, composed.blocks)
            }
            return .written(composed.blocks)
        } catch {
            try? new.discard()
            throw error
        }
    }

    /// - Parameter with: further changes in the same transaction.
    private func noteDown(_ write: NoteWriteRecord, with: (LedgerTransaction) throws -> Void) throws -> Int64 {
        let id = try journal.ledger.writeBlocking { transaction in
            try with(transaction)
            return try transaction.beginNoteWrite(write)
        }
        FaultPoint.reach("write begun")
        return id
    }

    /// Writes the new tail. If that fails and cannot be rolled back, the write stays open in the ledger and is repaired
    /// before the next.
    private func put(_ write: NoteWriteRecord, _ id: Int64, into leased: LeasedFile) throws {
        try leased.replace(from: Int(write.position), write.oldTail, with: write.newTail) {
            try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
        }
    }

    /// Restores a file that lost the note's name during the write, so that the blocks are in the note only. Nobody has
    /// seen them there, because openers wait for the lease.
    private func takeBack(_ write: NoteWriteRecord, _ id: Int64, from leased: LeasedFile) throws -> Attempt {
        if try leased.file.status().links > 0, leased.isSure {
            try leased.replace(from: Int(write.position), write.newTail, with: write.oldTail)
        }
        try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
        return .replaced
    }

    private enum Acquisition {
        case held(Descriptor, LeasedFile)
        /// No lease; the outcome of the attempt.
        case not(Attempt)
    }

    private func acquire(_ note: BytePath, _ files: HeldFiles) throws -> Acquisition {
        guard let file = try open(note, files) else { return .not(.missing) }
        switch LeasedFile.acquire(file, limit: limit) {
        case .busy: return .not(.busy)
        case .unsupported: return .not(.unsupported)
        case .held(let leased): return .held(file, leased)
        }
    }

    /// The ``Fault/code`` for a note that another process is writing.
    static let leased = "leased"

    private func open(_ note: BytePath, _ files: HeldFiles) throws -> Descriptor? {
        let file: Descriptor
        do {
            file = try files.openFollowing(note, O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        } catch let fault as Fault where fault.errno == EAGAIN {
            // Another agent's lease is being broken.
            throw Fault(.transient, "\(note) is leased by another process", path: note, code: Self.leased)
        } catch let fault as Fault where fault.errno == EACCES {
            if let status = try files.statusFollowing(note), status.mode & 0o222 == 0 { throw Self.readOnly(note) }
            throw fault
        }
        let status = try file.status()
        guard status.kind == .file else { throw Fault(.failed, "\(note) is not a file", path: note) }
        // An agent running as root could still write it, but the user made it read-only.
        guard status.mode & 0o222 != 0 else { throw Self.readOnly(note) }
        return file
    }

    private static func readOnly(_ note: BytePath) -> Fault {
        Fault(.failed, "\(note) is read-only; make it writable (chmod u+w), then run `steward retry`", path: note)
    }

    private func stillNames(_ file: Descriptor, _ note: BytePath, _ files: HeldFiles) throws -> Bool {
        try files.statusFollowing(note)?.isSameFile(as: file.status()) == true
    }

    private func record(
        _ note: BytePath, _ file: Descriptor, _ base: ContentHash, _ result: ContentHash,
        _ change: (position: Int64, old: [UInt8], new: [UInt8]), blocks: [NoteBlockRecord]
    ) throws -> NoteWriteRecord {
        let status = try file.status()
        return NoteWriteRecord(
            note: note, device: status.device, inode: status.inode, base: base, result: result,
            position: change.position, oldTail: change.old, newTail: change.new, blocks: blocks)
    }
}
