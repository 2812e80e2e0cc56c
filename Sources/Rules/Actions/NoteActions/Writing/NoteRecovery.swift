import Glibc
import Ledger
import Platform
import Rules

/// Finds out what happened to a write that was begun but not ended.
struct NoteRecovery {
    enum Finding: Sendable, Equatable {
        /// All bytes are there.
        case done
        /// None are.
        case void
        /// Some were; the write has been completed.
        case mended
        /// Someone has rewritten the note since; the payload says whether it contains the blocks.
        case rewritten(blocksPresent: Bool)
        /// Torn, but the note is open for writing elsewhere or its place is away; left until the next write.
        case held
    }

    let journal: EffectJournal

    /// Examines a begun write, completes it if it is torn, and closes it in the ledger. Blocks.
    func recover(_ write: NoteWriteRecord) throws -> Finding {
        let files = journal.files()
        let finding = try examine(write, files)
        // Before the transaction, because reaching a place may itself write to the ledger.
        let isReached = finding != .held && finding != .void
        let found = try isReached ? files.status(write.note) : nil
        let identity = try isReached ? files.entryIfAny(write.note)?.identity() : nil
        try journal.ledger.writeBlocking { transaction in
            switch finding {
            case .done, .mended, .rewritten(blocksPresent: true):
                try transaction.endNoteWrite(write.id)
                // Later writes by others count as a newer version.
                if try !write.blocks.isEmpty || transaction.noteState(write.note) != nil {
                    try transaction.noteHolds(write.note, write.result, write.blocks)
                }
                if let status = found, finding != .rewritten(blocksPresent: true) {
                    try journal.wrote(
                        write.note, base: write.base, status.fingerprint, write.result,
                        blocks: write.blocks.map(\.token), in: transaction)
                    try knowNew(write, status, identity, in: transaction)
                } else if let (place, relative) = journal.places.locate(write.note) {
                    // Later writers are judged by their own content, not by these blocks.
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

    /// Records a note that the write created as the agent's own, so that it is not news.
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
        // Someone made it too long for a note, and no write goes into such a file.
        guard try file.status().size <= Descriptor.textLimit else { return .held }
        let now = try file.readAll()
        guard try file.status().inode == write.inode, try file.status().device == write.device else {
            return .rewritten(blocksPresent: present(write, now))
        }
        let hash = ContentHash(of: now)
        if hash == write.result {
            // The writer may have been interrupted before syncing.
            try file.sync()
            try files.entryIfAny(write.note)?.syncFolder()
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

    /// Nobody may write during the repair; anyone who has the note open gets a moment to close it.
    private func waitForLease(_ file: Descriptor) -> Lease.Answer {
        for _ in 0..<100 {
            let answer = Lease.acquireExclusive(file)
            if answer != .busy { return answer }
            usleep(20_000)
        }
        return .busy
    }

    /// Whether every byte of the tail is the old one, the new one, or a zero from an unwritten disk block.
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
