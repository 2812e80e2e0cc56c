import Glibc
import Ledger
import Platform
import Rules

/// What became of a write that was begun and not ended.
struct NoteRecovery {
    enum Finding: Sendable, Equatable {
        /// The bytes are there.
        case done
        /// None of them is.
        case void
        /// Some were; the write has been finished.
        case mended
        /// The note was written by somebody else since; whether the blocks are in it was looked up.
        case rewritten(blocksPresent: Bool)
        /// It was torn, but somebody has the note open for writing, or its place is away: it is left as it is until it
        /// is written to.
        case held
    }

    let journal: EffectJournal

    /// Looks at one begun write, mends it if it was torn, and closes it in the ledger. Blocks.
    func recover(_ write: NoteWriteRecord) throws -> Finding {
        let files = journal.files()
        let finding = try examine(write, files)
        // Before the transaction: reaching a place may have to note in the ledger that it is another.
        let isReached = finding != .held && finding != .void
        let found = try isReached ? files.status(write.note) : nil
        let identity = try isReached ? files.spotIfAny(write.note)?.identity() : nil
        try journal.ledger.writeBlocking { transaction in
            switch finding {
            case .done, .mended, .rewritten(blocksPresent: true):
                try transaction.endNoteWrite(write.id)
                // What others wrote since is a version after it.
                if try !write.blocks.isEmpty || transaction.noteState(write.note) != nil {
                    try transaction.noteHolds(write.note, write.result, write.blocks)
                }
                if let status = found, finding != .rewritten(blocksPresent: true) {
                    try journal.wrote(
                        write.note, base: write.base, status.fingerprint, write.result,
                        blocks: write.blocks.map(\.token), in: transaction)
                    try knowNew(write, status, identity, in: transaction)
                } else if let (place, relative) = journal.places.locate(write.note) {
                    // Whoever wrote since is judged by what they wrote, not by these blocks.
                    try transaction.addBlocks(place.name, relative, write.blocks.map(\.token))
                }
            case .void, .rewritten(blocksPresent: false):
                try transaction.voidNoteWrite(write.id)
            case .held:
                break
            }
        }
        return finding
    }

    /// A note that the write has made, not changed, is the agent's own and no news.
    private func knowNew(
        _ write: NoteWriteRecord, _ status: FileStatus, _ identity: FileIdentity?, in transaction: LedgerTransaction
    ) throws {
        guard write.position == 0, write.oldTail.isEmpty, let identity,
            try write.blocks.contains(where: { block in
                try transaction.staged(by: block.step).contains { $0.isSame(as: identity) }
            }),
            let (place, relative) = journal.places.locate(write.note)
        else { return }
        let known = try transaction.file(place.name, relative)
        if known?.present == true { return }
        try transaction.setFile(
            FileRecord(
                place: place.name, path: relative, fingerprint: status.fingerprint, hash: write.result,
                version: (known?.version ?? 0) + 1))
    }

    private func examine(_ write: NoteWriteRecord, _ files: HeldFiles) throws -> Finding {
        guard try journal.presence.isHere(write.note) else { return .held }
        let file: Descriptor
        do {
            file = try files.openFollowing(write.note, O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return .void
        } catch let fault as Fault where fault.code == Fault.link || fault.errno == ENOTDIR {
            return .held
        }
        let isHeld = waitForLease(file) == .busy && Lease.probeWriters(file) == .busy
        defer { Lease.release(file) }
        // Somebody has made it too long to be a note; no write goes into such a one.
        guard try file.status().size <= Descriptor.textLimit else { return .held }
        let now = try file.readAll()
        guard try file.status().inode == write.inode, try file.status().device == write.device else {
            return .rewritten(blocksPresent: present(write, now))
        }
        let hash = ContentHash(of: now)
        if hash == write.result {
            // Who wrote it may have been cut off before it was on the disk.
            try file.sync()
            try files.spotIfAny(write.note)?.syncFolder()
            return .done
        }
        if hash == write.base { return .void }
        guard isTorn(now, write) else { return .rewritten(blocksPresent: present(write, now)) }
        if isHeld { return .held }
        try file.write(write.newTail, at: write.position)
        try file.truncate(to: write.position + Int64(write.newTail.count))
        try file.sync()
        return .mended
    }

    /// Nobody may write while the note is mended; whoever has it open gets a moment to close it.
    private func waitForLease(_ file: Descriptor) -> Lease.Answer {
        for _ in 0..<100 {
            let answer = Lease.acquireExclusive(file)
            if answer != .busy { return answer }
            usleep(20_000)
        }
        return .busy
    }

    /// Whether every byte of the tail is the old one, the new one, or the zero of a block that was never written.
    private func isTorn(_ now: [UInt8], _ write: NoteWriteRecord) -> Bool {
        let position = Int(write.position)
        let longest = position + max(write.oldTail.count, write.newTail.count)
        guard now.count >= position, now.count <= longest,
            ContentHash(of: now[..<position] + write.oldTail) == write.base
        else { return false }
        return now[position...].enumerated().allSatisfy { offset, byte in
            byte == 0 || (offset < write.oldTail.count && byte == write.oldTail[offset])
                || (offset < write.newTail.count && byte == write.newTail[offset])
        }
    }

    private func present(_ write: NoteWriteRecord, _ now: [UInt8]) -> Bool {
        let held = NoteText.tokens(now)
        return !write.blocks.isEmpty && write.blocks.allSatisfy { held.contains($0.token) }
    }
}
