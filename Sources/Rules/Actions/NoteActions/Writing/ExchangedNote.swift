import A4CoreSwift
import Foundation
import Glibc
import Ledger
import Platform
import Rules

/// Writes into a note that cannot be leased: swaps in a changed copy, and checks the displaced version again before it
/// is removed (docs/design/notes.md). Blocks.
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

    /// - Parameter quietFor: seconds that the note must have been unmodified.
    /// - Throws: `Fault(.transient)` if it is not quiet, or changed at the last moment.
    func append(
        _ requests: [NoteRequest], to note: BytePath, _ files: HeldFiles, quietFor: Double,
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void = { _, _ in }
    ) throws -> Written {
        let file = try files.openFollowing(note)
        // For a symlink, its target is swapped and the link stays.
        let place = try files.resolved(note)
        let status = try file.status()
        let age = Timestamp.now().seconds - Double(status.fingerprint.modified) / 1e9
        guard age >= quietFor else {
            throw Fault(
                .transient,
                "\(note) has just been written and cannot be leased; waiting until it has been unchanged for a while",
                path: note)
        }
        let before = try file.readAll()
        let base = ContentHash(of: before)
        try keepCopy(before, of: note)
        let snapshot = try NoteSnapshot(note, base, journal.ledger) { before }
        let all = snapshot.requests(with: requests)
        let composed = try ComposedNote(before, all, device: device, reserved: snapshot.reserved(but: all))
        // Recorded under the note rather than a step, because it has to be known beyond the step's receipt.
        let exchanged = try ExchangedFile(
            composed.bytes, inPlaceOf: file, at: files.entry(place), keepsOwner: false
        ) {
            try journal.recordStaged($0, $1, step: Self.mark + note.description)
        }
        do {
            guard let staged = try exchanged.aside.status() else {
                throw Fault(.transient, "\(exchanged.aside.path) vanished")
            }
            let result = ContentHash(of: composed.bytes)
            let id = try journal.ledger.writeBlocking { transaction in
                try snapshot.commit(in: transaction)
                try NoteSnapshot.begin(requests, composed.blocks, in: transaction)
                return try transaction.beginNoteWrite(
                    NoteWriteRecord(
                        note: note, device: staged.device, inode: staged.inode, base: base, result: result, position: 0,
                        oldTail: [], newTail: composed.bytes, blocks: composed.blocks))
            }
            FaultPoint.reach("write begun")
            guard try files.status(place)?.fingerprint == status.fingerprint else {
                try journal.ledger.writeBlocking { try $0.voidNoteWrite(id) }
                throw Fault(.transient, "\(note) changed at the last moment", path: note)
            }
            try exchanged.exchange()
            let displaced = Displaced(path: exchanged.aside.path, note: note, hash: base)
            let now = try files.status(place)
            try journal.ledger.writeBlocking { transaction in
                try transaction.endNoteWrite(id)
                if let now {
                    try journal.wrote(
                        note, base: base, now.fingerprint, result, blocks: composed.blocks.map(\.token), in: transaction
                    )
                }
                try snapshot.written(composed.blocks, result, in: transaction)
                try finish(transaction, composed.blocks)
            }
            return Written(blocks: composed.blocks, displaced: displaced)
        } catch {
            if try exchanged.aside.status()?.inode != status.inode { try exchanged.removeAside() }
            throw error
        }
    }

    /// Removes the displaced version if it is unmodified; otherwise keeps it beside the note.
    func retire(_ displaced: Displaced) throws {
        let files = journal.files()
        guard try files.status(displaced.path) != nil else { return }
        let hash = try files.hash(displaced.path)
        if hash == displaced.hash {
            try files.remove(displaced.path)
        } else {
            try keepBeside(displaced.path, note: displaced.note, files)
        }
        try journal.ledger.writeBlocking { try $0.clearStaged(path: displaced.path) }
    }

    /// A temporary file recorded in the ledger.
    typealias Leftover = (path: BytePath, file: FileIdentity, job: String)

    /// Whether the record may be a leftover to remove. One under an ordinary name may be a hard link to a person's
    /// file.
    static func mayBeLeft(_ leftover: Leftover) -> Bool {
        isTemporary(leftover.path) || note(of: leftover.job) != nil
    }

    /// Cleans up recorded temporary files of an earlier run. Products that never got their name are removed, and so are
    /// displaced versions of notes. A displaced version that someone wrote into is kept beside its note.
    ///
    /// - Parameter goesOn: checked before each file; once it returns false, the rest is left for the next start.
    func retire(_ leftovers: [Leftover], while goesOn: () -> Bool) throws {
        for (path, file, job) in leftovers where try journal.presence.isHere(path) && goesOn() {
            let note = Self.note(of: job)
            let files = journal.files()
            // Something behind a link put there by others belongs to the maker of the link.
            guard try !files.isBehindLink(path) else { continue }
            if Self.isTemporary(path), let found = try files.entryIfAny(path)?.identity() {
                if found.isSame(as: file) {
                    try files.discard(path, record: journal.staging(job))
                } else if let note {
                    if try isKnown(path, files) {
                        try files.remove(path)
                    } else {
                        try keepBeside(path, note: note, files)
                    }
                }
            }
            if note != nil { try journal.ledger.writeBlocking { try $0.clearStaged(path: path) } }
        }
    }

    private static func isTemporary(_ path: BytePath) -> Bool { path.nameText.hasPrefix(".steward-") }

    /// Prefix of the job under which temporary files of exchanged notes are recorded, before the note's path.
    private static let mark = "exchange "

    private static func note(of job: String) -> BytePath? {
        guard job.hasPrefix(mark) else { return nil }
        return BytePath(bytes: BytePath.unescape(String(job.dropFirst(mark.count))))
    }

    /// Whether the backups hold the same bytes, so that the file is an unmodified displaced version.
    private func isKnown(_ path: BytePath, _ files: HeldFiles) throws -> Bool {
        let hash = try files.hash(path)
        return try HeldFiles(own: backups).status(backups.appending(hash.description)) != nil
    }

    private func keepCopy(_ bytes: [UInt8], of note: BytePath) throws {
        let target = backups.appending(ContentHash(of: bytes).description)
        let files = HeldFiles(own: backups)
        try files.makeFolders(for: target, mode: 0o700)
        if try files.status(target) == nil { try files.replaceOwn(target, with: bytes) }
    }

    private func keepBeside(_ path: BytePath, note: BytePath, _ files: HeldFiles) throws {
        let (stem, suffix) = note.stemAndExtension
        let time = Timestamp.now().description.replacingOccurrences(of: ":", with: "")
        let mark = Array(" (conflict \(device) \(time))".utf8)
        let name = stem + mark + (suffix.map { [UInt8(ascii: ".")] + $0 } ?? [])
        for target in Mover.alternatives(note.parent.appending(name: name))
        where try files.renameNew(path, to: target) {
            return
        }
    }
}
