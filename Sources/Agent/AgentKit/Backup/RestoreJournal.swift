import Foundation
import Glibc
import JSONText
import Ledger
import OwnFiles
import Platform

/// The renames of a restore, written to the state directory before the first one. A process that finds the journal
/// finishes them; until then no agent starts (``StateLock``). Everything here blocks.
struct RestoreJournal: Codable {
    struct Move: Codable {
        let from: BytePath
        let to: BytePath
        /// The store's root as configured, symlinks included; determines the rights with which to rename.
        let root: BytePath?
        /// The file being moved: a later move may have put another file of the same name at `from`.
        let identity: Identity?

        init(from: BytePath, to: BytePath, in root: BytePath) throws {
            (self.from, self.to, self.root) = (from, to, root)
            identity = try Identity(of: from)
        }
    }

    /// Identifies a file on its file system, independent of its name.
    struct Identity: Codable, Equatable {
        let inode: UInt64
        let birth: Int64?

        /// - Returns: nil if there is no such file.
        init?(of path: BytePath) throws {
            guard let status = try FileStatus.of(path) else { return nil }
            inode = status.inode
            birth = try DirectoryEntry(own: path).birth()
        }
    }

    /// Something root created for another user: a store's missing folder, or the lock in it.
    struct OwnerChange: Codable {
        let path: BytePath
        let owner: String?
        let group: String?
    }

    let backup: BytePath
    let moves: [Move]
    /// Folders that are empty once everything is in place.
    let emptied: [BytePath]
    /// Given to their owners once everything is in place: until then only root can reach what root is working on.
    /// Nested entries come first. Missing in older journals.
    let gifts: [OwnerChange]?

    static func file(_ state: BytePath) -> BytePath { state.appending(StateLock.restoring) }

    /// - Returns: also the journal's writer if that is a different user: a user must not make root rename anything but
    ///   that user's own files.
    static func read(_ state: BytePath) throws -> (journal: RestoreJournal, writer: RestoreOwner?)? {
        let path = file(state)
        guard try FileStatus.of(path) != nil else { return nil }
        do {
            let opened = try Descriptor(path)
            let journal = try JSONDecoder().decode(
                RestoreJournal.self, from: Data(try opened.readAll(limit: 64 << 20)))
            return (journal, try RestoreOwner.writer(of: opened))
        } catch is DecodingError {
            throw Fault(
                .failed,
                "\(path), the journal of an unfinished restore, cannot be read; move it and the contents of \(state) away, "
                    + "and restore again", path: path)
        } catch let fault as Fault where fault.errno == EACCES {
            throw Fault(
                .usage,
                "root began the restore into \(state) that was interrupted: run `steward restore` as root, who can "
                    + "finish it", path: path)
        }
    }

    /// If root restores, the journal belongs to root, unreadable and unwritable for others: it determines what root
    /// renames.
    func write(_ state: BytePath, _ owner: RestoreOwner) throws {
        let bytes = Array(try JSONText.document(self).utf8)
        try Durable.replaceOwn(owner.openFolder(state)[Array(StateLock.restoring.utf8)], with: bytes)
        FaultPoint.reach("restore noted")
    }

    /// Makes the renames.
    ///
    /// - Parameters:
    ///   - resumes: whether some may already be done.
    ///   - writer: see ``read(_:)``.
    func finish(_ state: BytePath, resumes: Bool, writer: RestoreOwner? = nil) throws {
        for move in moves {
            let owner = try writer ?? RestoreOwner(of: move.root ?? move.from.parent)
            if try owner.act({ try resumes && isMade(move, state) }) { continue }
            guard try owner.act({ try Durable.renameNew(move.from, to: move.to) }) else {
                throw Fault(
                    .failed,
                    "\(move.to) was created during the restore; move it away and run `steward restore` again",
                    path: move.to)
            }
            FaultPoint.reach("restore moved")
        }
        for folder in emptied {
            try (writer ?? RestoreOwner(of: folder.parent)).act { try BackupFolder.remove(folder) }
        }
        if writer == nil { try giveAway() }
        try (writer ?? RestoreOwner(of: state)).act {
            try Durable.remove(Self.file(state))
            try Durable.syncDirectory(state)
        }
    }

    private func giveAway() throws {
        let names = BackupOwners()
        // On resuming, entries inside a folder that was already given away have been given too, and root must not touch
        // them.
        for gift in gifts ?? [] where try RestoreOwner(of: gift.path).mayGive && FileStatus.of(gift.path) != nil {
            let given = try Descriptor(gift.path)
            try RestoreOwner.give(given, to: gift.owner, gift.group, names)
            try given.sync()
        }
    }

    private func isMade(_ move: Move, _ state: BytePath) throws -> Bool {
        let (from, to) = try (Identity(of: move.from), Identity(of: move.to))
        if let known = move.identity, to == known {
            // If the file system cannot rename without replacing, the file briefly has both names.
            if from == known { try Durable.remove(move.from) }
            return true
        }
        // Some file systems assign new inode numbers; then existence must suffice.
        if from == nil, to != nil { return true }
        let isStaged = move.from.components.contains { $0.elementsEqual(Restore.staging.bytes) }
        if let from, from == move.identity || move.identity == nil || isStaged && to == nil { return false }
        let there = [(move.from, from), (move.to, to)].filter { $0.1 != nil }.map(\.0.description)
        throw Fault(
            .failed,
            "somebody has changed a file that a restore from \(backup) was putting into its place: "
                + (there.isEmpty
                    ? "neither \(move.from) nor \(move.to) is there"
                    : "\(there.joined(separator: " and ")) \(there.count == 1 ? "is" : "are") there, and not what was moved")
                + "; move \(Self.file(state)) away and restore again with --replace, which removes nothing",
            path: move.from)
    }
}
