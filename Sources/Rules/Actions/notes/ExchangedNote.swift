import A4CoreSwift
import Foundation
import Glibc
import Ledger
import Platform
import Rules

/// Writing into a note on which no lease can be had: a changed copy takes its place in one step, and the version that
/// it displaced is looked at again before it goes (design section 3, "Where no lease can be had"). Blocks.
struct ExchangedNote {
    struct Displaced: Sendable {
        let path: BytePath
        let note: BytePath
        let hash: ContentHash
    }

    struct Written: Sendable {
        let blocks: [NoteBlockRecord]
        let displaced: Displaced
    }

    let journal: EffectJournal
    let device: String
    let backups: BytePath

    /// - Parameter quietFor: seconds for which the note must not have been written.
    /// - Throws: `Fault(.transient)` where it is not quiet, or was changed in the last moment.
    func append(
        _ requests: [NoteRequest], to note: BytePath, quietFor: Double,
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void
    ) throws -> Written {
        let file = try open(note, requests)
        // Where the note is a link the file that it leads to is exchanged, and the link stays.
        let place = try Self.resolved(note)
        let status = try file.status()
        let age = Timestamp.now().seconds - Double(status.fingerprint.modified) / 1e9
        guard age >= quietFor else {
            throw Fault(
                .transient, "\(note) was written a moment ago and cannot be leased; waiting until it is quiet",
                path: note)
        }
        let before = try file.readAll()
        let base = ContentHash(of: before)
        try keepCopy(before, of: note)
        let composed = try ComposedNote(
            before, requests, device: device, reserved: journal.reservedTokens(note, requests))
        // Not under a step: it must still be known when the step's receipt has been committed.
        let temporary = try Durable.stage(composed.bytes, for: place, mode: status.mode) {
            try journal.recordStaged($0, $1, step: Self.mark + note.description)
        }
        do {
            try copyOwnership(of: file, status, to: temporary)
            guard let staged = try FileStatus.of(temporary) else { throw Fault(.transient, "\(temporary) vanished") }
            let result = ContentHash(of: composed.bytes)
            let id = try journal.ledger.writeBlocking {
                try $0.beginNoteWrite(
                    NoteWriteRecord(
                        note: note, device: staged.device, inode: staged.inode, base: base, result: result, position: 0,
                        oldTail: [], newTail: composed.bytes, blocks: composed.blocks))
            }
            FaultPoint.reach("write begun")
            guard try FileStatus.of(place)?.fingerprint == status.fingerprint else {
                try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
                throw Fault(.transient, "\(note) changed in the last moment", path: note)
            }
            try Durable.exchange(temporary, place)
            let displaced = Displaced(path: temporary, note: note, hash: base)
            let now = try FileStatus.of(place)
            try journal.ledger.writeBlocking { transaction in
                try transaction.endNoteWrite(id)
                if let now {
                    try journal.wrote(
                        note, base: base, now.fingerprint, result, blocks: composed.blocks.map(\.token), in: transaction
                    )
                }
                try finish(transaction, composed.blocks)
            }
            return Written(blocks: composed.blocks, displaced: displaced)
        } catch {
            if try FileStatus.of(temporary)?.inode != status.inode { try Durable.remove(temporary) }
            throw error
        }
    }

    /// Removes the displaced version if nobody has written into it; else what was added stands beside the note.
    func retire(_ displaced: Displaced) throws {
        guard try FileStatus.of(displaced.path) != nil else { return }
        let hash = try ContentHash.ofFile(displaced.path)
        if hash == displaced.hash {
            try Durable.remove(displaced.path)
        } else {
            try keepBeside(displaced.path, note: displaced.note)
        }
        try journal.ledger.writeBlocking { try $0.clearStaged(path: displaced.path) }
    }

    /// What an earlier life left under temporary names that the ledger knows: products that never got their name go;
    /// so do displaced versions of notes, but for those that somebody wrote into, which are kept beside their note.
    func retireLeftovers() throws {
        for (path, device, inode, job) in try journal.ledger.readBlocking({ try $0.staged() })
        where try journal.presence.isHere(path) {
            let note = Self.note(of: job)
            if path.nameText.hasPrefix(".steward-"), let status = try FileStatus.of(path) {
                if status.inode == inode, status.device == device {
                    try Durable.remove(path)
                } else if let note {
                    if try isKnown(path) { try Durable.remove(path) } else { try keepBeside(path, note: note) }
                }
            }
            if note != nil { try journal.ledger.writeBlocking { try $0.clearStaged(path: path) } }
        }
    }

    /// What temporary files of exchanged notes are recorded under, before the note's path.
    private static let mark = "exchange "

    private static func note(of job: String) -> BytePath? {
        guard job.hasPrefix(mark) else { return nil }
        return BytePath(bytes: BytePath.unescape(String(job.dropFirst(mark.count))))
    }

    private func open(_ note: BytePath, _ requests: [NoteRequest]) throws -> Descriptor {
        guard let root = requests.first?.root, let relative = note.relative(to: root) else {
            throw Fault(.failed, "\(note) is not in the vault", path: note)
        }
        return try SafePath.open(relative, beneath: root)
    }

    private static func resolved(_ note: BytePath) throws -> BytePath {
        guard let found = note.withCString({ realpath($0, nil) }) else { throw Fault.system("find", note) }
        defer { free(found) }
        return BytePath(bytes: UnsafeBufferPointer(start: found, count: strlen(found)).map { UInt8(bitPattern: $0) })
    }

    /// Whether the same bytes lie among the copies: then the file is a displaced version that nobody has changed.
    private func isKnown(_ path: BytePath) throws -> Bool {
        let hash = try ContentHash.ofFile(path)
        return try FileStatus.of(backups.appending(hash.description)) != nil
    }

    private func keepCopy(_ bytes: [UInt8], of note: BytePath) throws {
        try Durable.makeDirectory(backups, mode: 0o700)
        let target = backups.appending(ContentHash(of: bytes).description)
        if try FileStatus.of(target) == nil { try Durable.replaceOwn(target, with: bytes) }
    }

    private func keepBeside(_ path: BytePath, note: BytePath) throws {
        let (stem, suffix) = note.stemAndExtension
        let time = Timestamp.now().description.replacingOccurrences(of: ":", with: "")
        let mark = Array(" (conflict \(device) \(time))".utf8)
        let name = stem + mark + (suffix.map { [UInt8(ascii: ".")] + $0 } ?? [])
        for target in Mover.alternatives(note.parent.appending(name: name))
        where try Durable.renameNew(path, to: target) {
            return
        }
    }

    private func copyOwnership(of file: Descriptor, _ status: FileStatus, to path: BytePath) throws {
        let copy = try Descriptor(path, O_WRONLY)
        // Only a superuser may give a file away; for others the owner is the same already or stays the agent's.
        _ = fchown(copy.raw, status.owner, status.group)
        guard fchmod(copy.raw, status.mode) == 0 else { throw Fault.system("set the mode of", path) }
        for name in try ExtendedAttributes.names(of: file) {
            try ExtendedAttributes.set(name, try ExtendedAttributes.value(name, of: file) ?? [], on: copy)
        }
    }
}
