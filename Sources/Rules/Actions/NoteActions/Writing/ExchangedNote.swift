import A4CoreSwift
import Foundation
import Glibc
import Ledger
import Platform
import Rules

/// Writing into a note on which no lease can be had: a changed copy takes its place in one step, and the version that
/// it displaced is looked at again before it goes (docs/design/notes.md). Blocks.
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
        _ requests: [NoteRequest], to note: BytePath, _ files: HeldFiles, quietFor: Double,
        finish: (LedgerTransaction, [NoteBlockRecord]) throws -> Void = { _, _ in }
    ) throws -> Written {
        let file = try files.openFollowing(note)
        // Where the note is a link the file that it leads to is exchanged, and the link stays.
        let place = try files.resolved(note)
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
        let snapshot = try NoteSnapshot(note, base, journal.ledger) { before }
        let all = snapshot.requests(with: requests)
        let composed = try ComposedNote(before, all, device: device, reserved: snapshot.reserved(but: all))
        // Not under a step: it must still be known when the step's receipt has been committed.
        let exchanged = try ExchangedFile(
            composed.bytes, inPlaceOf: file, at: files.spot(place), keepsOwner: false
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
                throw Fault(.transient, "\(note) changed in the last moment", path: note)
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

    /// Removes the displaced version if nobody has written into it; else what was added stands beside the note.
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

    /// A temporary file, as the ledger has it.
    typealias Leftover = (path: BytePath, file: FileIdentity, job: String)

    /// Whether a file may lie there that has yet to go: not where a step has given another name to somebody's file.
    static func mayBeLeft(_ leftover: Leftover) -> Bool {
        isTemporary(leftover.path) || note(of: leftover.job) != nil
    }

    /// What an earlier life left under temporary names that the ledger knows: products that never got their name go;
    /// so do displaced versions of notes, but for those that somebody wrote into, which are kept beside their note.
    ///
    /// - Parameter goesOn: asked before each; the others stay for the next start where it says no.
    func retire(_ leftovers: [Leftover], while goesOn: () -> Bool) throws {
        for (path, file, job) in leftovers where try journal.presence.isHere(path) && goesOn() {
            let note = Self.note(of: job)
            let files = journal.files()
            // Whoever has put a link in the way has what lies there now.
            guard try !files.isBehindLink(path) else { continue }
            if Self.isTemporary(path), let found = try files.spotIfAny(path)?.identity() {
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

    /// What temporary files of exchanged notes are recorded under, before the note's path.
    private static let mark = "exchange "

    private static func note(of job: String) -> BytePath? {
        guard job.hasPrefix(mark) else { return nil }
        return BytePath(bytes: BytePath.unescape(String(job.dropFirst(mark.count))))
    }

    /// Whether the same bytes lie among the copies: then the file is a displaced version that nobody has changed.
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
