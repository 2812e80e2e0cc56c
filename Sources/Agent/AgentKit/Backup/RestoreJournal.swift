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
    }

    let backup: BytePath
    let moves: [Move]
    /// Folders that are empty when all is in its place.
    let emptied: [BytePath]

    static func file(_ state: BytePath) -> BytePath { state.appending(StateLock.restoring) }

    static func read(_ state: BytePath) throws -> RestoreJournal? {
        let path = file(state)
        guard try FileStatus.of(path) != nil else { return nil }
        do {
            return try JSONDecoder().decode(
                RestoreJournal.self, from: Data(try Descriptor(path).readAll(limit: 64 << 20)))
        } catch is DecodingError {
            throw Fault(
                .failed,
                "\(path), which says what a restore still has to do, cannot be read; move it and what lies in \(state) away, "
                    + "and restore again", path: path)
        }
    }

    func write(_ state: BytePath, _ owner: RestoreOwner) throws {
        try Durable.replaceOwn(Self.file(state), with: Array(try JSONText.document(self).utf8))
        try owner.give(Self.file(state))
        FaultPoint.reach("restore noted")
    }

    /// Makes the renames that have not been made.
    func finish(_ state: BytePath) throws {
        for move in moves {
            guard try FileStatus.of(move.from) != nil else {
                if try FileStatus.of(move.to) != nil { continue }
                throw Fault(
                    .failed,
                    "neither \(move.from) nor \(move.to) is there: somebody has changed what a restore from \(backup) was "
                        + "putting into its place; move \(Self.file(state)) away and restore again", path: move.from)
            }
            guard try Durable.renameNew(move.from, to: move.to) else {
                throw Fault(
                    .failed,
                    "\(move.to) has appeared while it was restored; move it away and run `steward restore` again",
                    path: move.to)
            }
            FaultPoint.reach("restore moved")
        }
        for folder in emptied { try BackupFolder.remove(folder) }
        try Durable.remove(Self.file(state))
        try Durable.syncDirectory(state)
    }
}

/// Whose a restored file is to be: where root restores, whose the folder is that it comes to lie in.
struct RestoreOwner {
    private let owner: (user: uid_t, group: gid_t)?

    init(of root: BytePath) throws {
        guard geteuid() == 0 else {
            owner = nil
            return
        }
        var folder = root
        while !folder.isEmpty, folder.real == nil { folder = folder.parent }
        let status = try Descriptor(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY, follow: true).status()
        owner = (status.owner, status.group)
    }

    func give(_ path: BytePath) throws {
        guard let owner else { return }
        guard path.withCString({ lchown($0, owner.user, owner.group) }) == 0 else {
            throw Fault.system("change the owner of", path)
        }
    }

    /// Makes a folder and those above it that are missing.
    func makeFolder(_ path: BytePath) throws {
        if path.isEmpty || path.real != nil { return }
        try makeFolder(path.parent)
        try Durable.makeDirectory(path, mode: 0o700)
        try give(path)
    }
}
