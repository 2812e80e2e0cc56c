import Foundation
import Glibc
import Platform

/// The trash of the freedesktop.org specification 1.0: the home trash, or that of the file's own file system. Blocks.
package struct TrashCan: Sendable {
    package let home: BytePath

    /// - Parameter home: the user's home trash (`$XDG_DATA_HOME/Trash`).
    package init(home: BytePath) { self.home = home }

    /// The file's path in the trash; deterministic per `mark`.
    func slot(for path: BytePath, mark: some StringProtocol, _ files: HeldFiles) throws -> BytePath {
        var (stem, suffix) = path.stemAndExtension
        // Treat an overlong extension as part of the name, to leave room for a stem.
        if let long = suffix, long.count > 100 { (stem, suffix) = (path.name, nil) }
        let tail = Array(".\(mark)".utf8) + (suffix.map { [UInt8(ascii: ".")] + $0 } ?? [])
        // A name has 255 bytes; leave room for ` (99)` and `.trashinfo`.
        let name = Mover.cut(stem, 240 - tail.count) + tail
        return try root(for: files.entry(path).folder).appending("files").appending(name: name)
    }

    /// Moves a file to the trash. The info file is written first, so every trashed file has one. If the name is taken,
    /// even by the same content, the next one is used.
    ///
    /// - Returns: its path in the trash.
    package func put(
        _ path: BytePath, expecting hash: ContentHash, mark: some StringProtocol, _ files: HeldFiles
    ) throws -> Mover.Placed {
        try put(path, expecting: hash, at: try slot(for: path, mark: mark, files), files) { _, _ in }
    }

    /// Likewise, for a slot decided earlier.
    ///
    /// - Parameters:
    ///   - name: the original path, if it differs from the current one.
    ///   - purpose: see ``Mover/removeSource(_:expecting:purpose:going:)``.
    func put(
        _ path: BytePath, as name: BytePath? = nil, expecting hash: ContentHash, at slot: BytePath,
        purpose: String? = nil, _ files: HeldFiles, record: Mover.Record
    ) throws -> Mover.Placed {
        let root = slot.parent.parent
        try prepare(slot, files)
        for free in Mover.alternatives(slot).prefix(100) where try files.status(free) == nil {
            try note(name ?? path, at: free, files)
            do {
                return try files.move(
                    path, expecting: hash, to: [free], .unchanged, purpose: purpose, record: record)
            } catch {
                if try files.status(free) == nil { try forget(free, files) }
                throw error
            }
        }
        throw Fault(.failed, "the trash \(root) holds too many files of the name \(slot.nameText)", path: path)
    }

    /// Creates the trash if it is missing, and checks that only this user can write to it.
    func prepare(_ slot: BytePath, _ files: HeldFiles) throws {
        let root = slot.parent.parent
        try files.makeFolders(for: slot, mode: 0o700)
        try files.makeFolders(for: info(of: slot), mode: 0o700)
        // Check the two folders to write to through the descriptors that are held from now on.
        let held = try [slot, info(of: slot)].map { try files.entry($0).folder }
        for folder in try [files.folder(root)] + held {
            let status = try folder.status()
            guard status.owner == geteuid(), status.mode & 0o022 == 0 else {
                throw Fault(
                    .failed,
                    "the trash \(folder.path) is not private to this user, so nothing is put into it; run `chmod go-w` on it, or "
                        + "remove it if it belongs to another user", path: folder.path)
            }
        }
    }

    /// Writes the info file of a slot. In place, because a crash leaves at most an info file without its file.
    func note(_ path: BytePath, at slot: BytePath, _ files: HeldFiles) throws {
        let past = try files.open(info(of: slot), O_WRONLY | O_CREAT | O_TRUNC)
        try past.write(Array(information(path, slot.parent.parent).utf8), at: 0)
        try past.sync()
    }

    /// Removes the info file of a restored file.
    func forget(_ slot: BytePath, _ files: HeldFiles) throws { try files.remove(info(of: slot)) }

    private func info(of slot: BytePath) -> BytePath {
        slot.parent.parent.appending("info").appending(name: slot.name + Array(".trashinfo".utf8))
    }

    /// The home trash if it is on the same file system, otherwise that of the file's own. If the latter is unusable,
    /// the home trash again, to which the file is copied.
    private func root(for folder: Folder) throws -> BytePath {
        guard let top = try top(over: folder) else { return home }
        return try Self.trash(atTopOf: top) ?? home
    }

    /// Whether trashing from a folder means copying into the home trash.
    package func mustCopy(from folder: Folder) throws -> Bool {
        guard let top = try top(over: folder) else { return false }
        return try Self.trash(atTopOf: top) == nil
    }

    /// The top folder of the folder's file system, found by walking up from the open folder; nil if it is also the home
    /// trash's.
    private func top(over folder: Folder) throws -> Folder? {
        let device = try folder.status().device
        var existing = home
        var found = try FolderIdentity.open(existing)
        while found == nil, existing.bytes.count > 1 {
            existing = existing.parent
            found = try FolderIdentity.open(existing)
        }
        if try found?.status().device == device { return nil }
        var top = folder
        while let above = try top.above(), try above.status().device == device { top = above }
        return top
    }

    /// The user's trash at the top of a file system, by the specification: a folder in `.Trash` if an administrator
    /// made that, otherwise `.Trash-<uid>`; nil if neither is usable.
    static func trash(atTopOf top: Folder) throws -> BytePath? {
        let path = try top.currentPath()
        let shared = top[Self.sharedName.name]
        // Without the sticky bit, others could replace the user's folder.
        if let status = try shared.status(), status.kind == .directory, status.mode & S_ISVTX != 0,
            let folder = try shared.openFolder(), try isUsable(folder[Array("\(getuid())".utf8)])
        {
            return path.appending(sharedName).appending("\(getuid())")
        }
        let own = top[Array(".Trash-\(getuid())".utf8)]
        return try isUsable(own) ? path.appending(own.name) : nil
    }

    private static let sharedName: BytePath = ".Trash"

    /// Whether the folder exists and is the user's own, or can be created.
    private static func isUsable(_ folder: DirectoryEntry) throws -> Bool {
        let needed = W_OK | X_OK
        guard let status = try folder.status() else { return folder.folder.isAccessible(needed) }
        return status.kind == .directory && status.owner == getuid() && folder.isAccessible(needed)
    }

    /// The specification uses local time.
    private func information(_ path: BytePath, _ root: BytePath) -> String {
        let top = root.parent.name == Self.sharedName.name ? root.parent.parent : root.parent
        let shown = root == home ? path : path.relative(to: top) ?? path
        return
            "[Trash Info]\nPath=\(percentEncoded(shown.bytes))\nDeletionDate=\(Zone.current.local(at: .now()).civil)\n"
    }
}
