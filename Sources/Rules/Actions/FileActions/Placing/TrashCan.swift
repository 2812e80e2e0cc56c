import Foundation
import Glibc
import Platform

/// The trash of the freedesktop.org specification 1.0: the home trash, or that of the file's own file system. Blocks.
package struct TrashCan: Sendable {
    package let home: BytePath

    /// - Parameter home: the user's home trash (`$XDG_DATA_HOME/Trash`).
    package init(home: BytePath) { self.home = home }

    /// Where a file would go, which is the same each time for one `mark`.
    func slot(for path: BytePath, mark: some StringProtocol, _ files: HeldFiles) throws -> BytePath {
        var (stem, suffix) = path.stemAndExtension
        // What leaves no room for a stem is no extension.
        if let long = suffix, long.count > 100 { (stem, suffix) = (path.name, nil) }
        let tail = Array(".\(mark)".utf8) + (suffix.map { [UInt8(ascii: ".")] + $0 } ?? [])
        // Of the 255 bytes of a name ` (99)` and `.trashinfo` need some.
        let name = Mover.cut(stem, 240 - tail.count) + tail
        return try root(for: files.spot(path).folder).appending("files").appending(name: name)
    }

    /// Puts a file there: first the information, then the file, so that no file lies in the trash without a past. Where
    /// the same content of that name lies there already, the next name is taken.
    ///
    /// - Returns: where it lies.
    package func put(
        _ path: BytePath, expecting hash: ContentHash, mark: some StringProtocol, _ files: HeldFiles
    ) throws -> Mover.Placed {
        try put(path, expecting: hash, at: try slot(for: path, mark: mark, files), files) { _, _ in }
    }

    /// The same for a slot that was decided before.
    ///
    /// - Parameters:
    ///   - name: what it was called, where that is not its name now.
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

    /// Makes the trash where there is none, and looks whether it is the user's alone.
    func prepare(_ slot: BytePath, _ files: HeldFiles) throws {
        let root = slot.parent.parent
        try files.makeFolders(for: slot, mode: 0o700)
        try files.makeFolders(for: info(of: slot), mode: 0o700)
        // Of the two that are written to, those very folders are asked that are held open from now on.
        let held = try [slot, info(of: slot)].map { try files.spot($0).folder }
        for folder in try [files.folder(root)] + held {
            let status = try folder.status()
            guard status.owner == geteuid(), status.mode & 0o022 == 0 else {
                throw Fault(
                    .failed,
                    "the trash \(folder.path) is not this user's alone, so nothing is put into it; run `chmod go-w` on it, or "
                        + "remove it if it is somebody else's", path: folder.path)
            }
        }
    }

    /// Writes down where a file came from. In place: a crash leaves at most the past of a file that is not there.
    func note(_ path: BytePath, at slot: BytePath, _ files: HeldFiles) throws {
        let past = try files.open(info(of: slot), O_WRONLY | O_CREAT | O_TRUNC)
        try past.write(Array(information(path, slot.parent.parent).utf8), at: 0)
        try past.sync()
    }

    /// Removes the information about a file that has been taken out again.
    func forget(_ slot: BytePath, _ files: HeldFiles) throws { try files.remove(info(of: slot)) }

    private func info(of slot: BytePath) -> BytePath {
        slot.parent.parent.appending("info").appending(name: slot.name + Array(".trashinfo".utf8))
    }

    /// The home trash where it is on the same file system, else the one of the file's own; where the agent may make or
    /// write none there, the home trash again, to which the file is copied.
    private func root(for folder: Folder) throws -> BytePath {
        guard let top = try top(over: folder) else { return home }
        return try Self.trash(atTopOf: top) ?? home
    }

    /// Whether what is trashed from a folder has to be copied into the home trash.
    package func mustCopy(from folder: Folder) throws -> Bool {
        guard let top = try top(over: folder) else { return false }
        return try Self.trash(atTopOf: top) == nil
    }

    /// The top of the folder's file system, found from the open folder upwards; nil where that is the home trash's as
    /// well.
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

    /// What the specification gives a user at the top of a file system: a folder in `.Trash`, if an administrator has
    /// made that, else `.Trash-<uid>`; nil where neither can be used.
    static func trash(atTopOf top: Folder) throws -> BytePath? {
        let path = try top.currentPath()
        let shared = top[Self.sharedName.name]
        // Without the sticky bit others could take the user's folder away.
        if let status = try shared.status(), status.kind == .directory, status.mode & S_ISVTX != 0,
            let folder = try shared.openFolder(), try isUsable(folder[Array("\(getuid())".utf8)])
        {
            return path.appending(sharedName).appending("\(getuid())")
        }
        let own = top[Array(".Trash-\(getuid())".utf8)]
        return try isUsable(own) ? path.appending(own.name) : nil
    }

    private static let sharedName: BytePath = ".Trash"

    /// Whether the folder is there and the user's own, or can be made.
    private static func isUsable(_ folder: DirectoryEntry) throws -> Bool {
        let needed = W_OK | X_OK
        guard let status = try folder.status() else { return folder.folder.isAccessible(needed) }
        return status.kind == .directory && status.owner == getuid() && folder.isAccessible(needed)
    }

    /// The specification writes times by the local clock.
    private func information(_ path: BytePath, _ root: BytePath) -> String {
        let top = root.parent.name == Self.sharedName.name ? root.parent.parent : root.parent
        let shown = root == home ? path : path.relative(to: top) ?? path
        return
            "[Trash Info]\nPath=\(percentEncoded(shown.bytes))\nDeletionDate=\(Zone.current.local(at: .now()).civil)\n"
    }
}
