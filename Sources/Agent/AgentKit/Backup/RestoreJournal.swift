import Foundation
import Glibc
import JSONText
import Ledger
import OwnFiles
import Platform

/// The renames of a restore, written into the state directory before the first of them: whoever finds it there makes the
/// rest of them, and until that is done no agent starts (``StateLock``). Everything here blocks.
struct RestoreJournal: Codable {
    struct Move: Codable {
        let from: BytePath
        let to: BytePath
        /// Of the store, as it is configured, with whatever links are on the way: says with whose rights it is made.
        let root: BytePath?
        /// Of what is moved: another file of the same name may have come to `from` since, by a later move.
        let identity: Identity?

        init(from: BytePath, to: BytePath, in root: BytePath) throws {
            (self.from, self.to, self.root) = (from, to, root)
            identity = try Identity(of: from)
        }
    }

    /// What tells a file from every other of its file system, whatever its name is.
    struct Identity: Codable, Equatable {
        let inode: UInt64
        let birth: Int64?

        /// - Returns: nil where nothing has that name.
        init?(of path: BytePath) throws {
            guard let status = try FileStatus.of(path) else { return nil }
            inode = status.inode
            birth = try DirectoryEntry(own: path).birth()
        }
    }

    /// What root has made for somebody else: the folder of a store that was there no more, or the lock in it.
    struct OwnerChange: Codable {
        let path: BytePath
        let owner: String?
        let group: String?
    }

    let backup: BytePath
    let moves: [Move]
    /// Folders that are empty when all is in its place.
    let emptied: [BytePath]
    /// Given away when all is in its place: until then nobody but root has a way to what root is at work on. What lies in
    /// another stands before it. Journals of before have none.
    let gifts: [OwnerChange]?

    static func file(_ state: BytePath) -> BytePath { state.appending(StateLock.restoring) }

    /// - Returns: who wrote it as well, where that is not whoever reads it: they have root make no renames but their own.
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
                "\(path), which says what a restore still has to do, cannot be read; move it and what lies in \(state) away, "
                    + "and restore again", path: path)
        } catch let fault as Fault where fault.errno == EACCES {
            throw Fault(
                .usage,
                "root has begun the restore into \(state) that was cut off: run `steward restore` as root, who can "
                    + "finish it", path: path)
        }
    }

    /// Where root restores it stays root's, and nobody else's to read or to write: it says what root will rename.
    func write(_ state: BytePath, _ owner: RestoreOwner) throws {
        let bytes = Array(try JSONText.document(self).utf8)
        try Durable.replaceOwn(owner.openFolder(state)[Array(StateLock.restoring.utf8)], with: bytes)
        FaultPoint.reach("restore noted")
    }

    /// Makes the renames.
    ///
    /// - Parameters:
    ///   - resumes: whether some may have been made.
    ///   - writer: see ``read(_:)``.
    func finish(_ state: BytePath, resumes: Bool, writer: RestoreOwner? = nil) throws {
        for move in moves {
            let owner = try writer ?? RestoreOwner(of: move.root ?? move.from.parent)
            if try owner.act({ try resumes && isMade(move, state) }) { continue }
            guard try owner.act({ try Durable.renameNew(move.from, to: move.to) }) else {
                throw Fault(
                    .failed,
                    "\(move.to) has appeared while it was restored; move it away and run `steward restore` again",
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
        // Where a restore is resumed, what lies in one that was given away has been given before, and is not root's to touch.
        for gift in gifts ?? [] where try RestoreOwner(of: gift.path).mayGive && FileStatus.of(gift.path) != nil {
            let given = try Descriptor(gift.path)
            try RestoreOwner.give(given, to: gift.owner, gift.group, names)
            try given.sync()
        }
    }

    private func isMade(_ move: Move, _ state: BytePath) throws -> Bool {
        let (from, to) = try (Identity(of: move.from), Identity(of: move.to))
        if let known = move.identity, to == known {
            // Where a file system refuses to rename without replacing, there is a moment in which a file has both names.
            if from == known { try Durable.remove(move.from) }
            return true
        }
        // Some file systems number their files anew: then what is there has to do.
        if from == nil, to != nil { return true }
        let isStaged = move.from.components.contains { $0.elementsEqual(Restore.staging.bytes) }
        if let from, from == move.identity || move.identity == nil || isStaged && to == nil { return false }
        let there = [(move.from, from), (move.to, to)].filter { $0.1 != nil }.map(\.0.description)
        throw Fault(
            .failed,
            "somebody has changed what a restore from \(backup) was putting into its place: "
                + (there.isEmpty
                    ? "neither \(move.from) nor \(move.to) is there"
                    : "\(there.joined(separator: " and ")) \(there.count == 1 ? "is" : "are") there, and not what was moved")
                + "; move \(Self.file(state)) away and restore again with --replace, which removes nothing",
            path: move.from)
    }
}
