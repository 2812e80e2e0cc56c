import CLinux
import Glibc
import OwnFiles
import Platform

/// The vault's folder. Every file is opened without following symlinks and only if it is a regular file (openat2(2),
/// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS), so that a writer to the folder cannot redirect the agent. Changes are
/// durable when the calls return. Everything blocks.
///
/// All writes to a vault go through this type: each change first checks whether the folder still has its name, and
/// throws `Fault` with the code ``StandingFolder/displaced`` if it does not.
package final class SealedVaultFolder: Sendable {
    package var path: BytePath { standing.path }
    private let standing: StandingFolder
    private var root: Descriptor { standing.reading }

    package init(_ path: BytePath) throws {
        standing = try StandingFolder(Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true))
    }

    /// Whether the vault's path still leads to this folder.
    package func stands() throws -> Bool { try standing.stands() }

    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` if it does not.
    package func requireStanding() throws { try standing.check() }

    /// Whether the vault's path still leads to this folder and its disk can still be read, bypassing the cache.
    package func answers() throws -> Bool {
        guard try stands() else { return false }
        // Files outside a disk file system have no cache to bypass.
        let file: Descriptor
        do {
            file = try open(VaultLayout.description, O_RDONLY | openDirect)
        } catch let fault as Fault where fault.errno == EINVAL || fault.errno == EOPNOTSUPP {
            return true
        } catch let fault as Fault where Self.isDead(fault) {
            return false
        }
        let page = try AlignedBuffer(4096)
        Blocking.call()
        if pread(file.raw, page.bytes.baseAddress, page.bytes.count, 0) >= 0 { return true }
        return !Self.isDead(Fault.system("read", file.path))
    }

    /// Like ``answers()``, for writing: a disk whose file system was shut down may still be readable.
    package func takesFiles() throws -> Bool {
        do {
            let temporary = try VaultTemporary(self)
            try temporary.file.write([0], at: 0)
            try temporary.file.sync()
            return true
        } catch let fault as Fault where fault.errno == ENOSPC || fault.errno == EDQUOT {
            return true
        } catch let fault as Fault where Self.isDead(fault) {
            return false
        }
    }

    /// Whether a call failed in a way typical of a disk that is gone or gives errors, or of a file system that was shut
    /// down.
    static func isDead(_ fault: Fault) -> Bool {
        fault.errno.map { [EIO, EROFS, ENXIO, ENODEV, ESTALE, ENOTCONN, ESHUTDOWN, EUCLEAN].contains($0) } ?? false
    }

    package func full(_ relative: BytePath) -> BytePath { path.appending(relative) }

    /// Opens an existing file; for writing only if the folder still has its name.
    ///
    /// - Throws: `Fault(.refused)` for anything but a regular file.
    package func open(_ relative: BytePath, _ flags: Int32 = O_RDONLY) throws -> Descriptor {
        if flags & O_ACCMODE != O_RDONLY { try standing.check() }
        let file = try SafePath.openExactly(relative, beneath: root, flags)
        guard try file.status().kind == .file else {
            throw Fault(
                .refused, "\(full(relative)) is not a regular file; nothing was read from it", path: full(relative))
        }
        return file
    }

    /// Creates a new file for writing.
    package func create(_ relative: BytePath) throws -> Descriptor {
        let file = try SafePath.openExactly(
            relative, beneath: standing.writing(), O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        FaultPoint.reach("created")
        return file
    }

    /// nil if there is no such file.
    package func status(_ relative: BytePath) throws -> FileStatus? {
        do {
            return try SafePath.locateExactly(relative, beneath: root).status()
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }

    /// The names in a folder of the vault, sorted.
    package func names(in relative: BytePath) throws -> [BytePath] {
        let folder = try directory(relative)
        return try listDirectory(BytePath("/proc/self/fd/\(folder.raw)/.")).map { BytePath(bytes: $0.name) }.sorted()
    }

    /// Creates a folder with mode 0700 unless it exists.
    package func makeDirectory(_ relative: BytePath) throws {
        try standing.check()
        let parent = try directory(relative.parent)
        if Self.withName(relative, { mkdirat(parent.raw, $0, 0o700) }) == 0 {
            FaultPoint.reach("folder made")
            try parent.sync()
        } else if errno != EEXIST {
            throw Fault.system("make the folder", full(relative))
        } else {
            _ = try directory(relative)
        }
    }

    package func sync(_ relative: BytePath) throws { try directory(relative).sync() }

    /// Renames without replacing, and syncs both folders.
    ///
    /// - Returns: false if `target` exists.
    package func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        try move(source, to: target, STEWARD_RENAME_NOREPLACE)
    }

    /// Renames, replacing an existing file, and syncs both folders.
    package func replace(_ target: BytePath, with source: BytePath) throws { _ = try move(source, to: target, 0) }

    /// Unlinks a file; a no-op if it is gone. The folder is not synced.
    package func remove(_ relative: BytePath) throws {
        try standing.check()
        try withdraw(relative)
    }

    /// Like ``remove(_:)``, for a file that this process has made and nothing names yet: it is removed even if the
    /// folder was moved.
    func withdraw(_ relative: BytePath) throws {
        let parent = try directory(relative.parent)
        guard Self.withName(relative, { unlinkat(parent.raw, $0, 0) }) == 0 || errno == ENOENT else {
            throw Fault.system("remove", full(relative))
        }
        FaultPoint.reach("removed")
    }

    /// Removes an empty folder; one with content stays.
    package func removeDirectory(_ relative: BytePath) throws {
        try standing.check()
        let parent = try directory(relative.parent)
        guard
            Self.withName(relative, { unlinkat(parent.raw, $0, AT_REMOVEDIR) }) == 0
                || errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT
        else { throw Fault.system("remove the folder", full(relative)) }
        FaultPoint.reach("folder removed")
    }

    private func directory(_ relative: BytePath) throws -> Descriptor {
        try SafePath.openExactly(relative, beneath: root, O_RDONLY | O_DIRECTORY)
    }

    private func move(_ source: BytePath, to target: BytePath, _ flags: UInt32) throws -> Bool {
        try standing.check()
        let from = try directory(source.parent)
        let to = source.parent == target.parent ? from : try directory(target.parent)
        let result = Self.withName(source) { old in
            Self.withName(target) { new in steward_renameat2(from.raw, old, to.raw, new, flags) }
        }
        if result != 0 {
            if errno == EEXIST, flags == STEWARD_RENAME_NOREPLACE { return false }
            throw Fault.system("rename \(full(source)) to", full(target))
        }
        FaultPoint.reach("renamed")
        try to.sync()
        if from !== to { try from.sync() }
        // A change in a folder that was moved away in the meantime does not count as done.
        try standing.check()
        return true
    }

    private static func withName<R>(_ path: BytePath, _ body: (UnsafePointer<CChar>) -> R) -> R {
        BytePath(bytes: path.name).withCString(body)
    }
}
