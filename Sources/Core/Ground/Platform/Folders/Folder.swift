import CLinux
import Glibc

/// A folder that is held open: what is done below it is done in this very folder, whatever stands at its path by now.
///
/// `path` is its name for people and for the ledger, never a way back to it. Calls block.
package final class Folder: Sendable {
    package let path: BytePath
    /// What the calls of the `…at` family are given.
    package let raw: Int32
    private let held: Descriptor?

    /// - Parameter held: an open folder; one that was opened only to be named (O_PATH) will do.
    package init(_ held: Descriptor) {
        self.held = held
        raw = held.raw
        path = held.path
    }

    /// Where names count from that are whole paths: see ``DirectoryEntry/init(unheld:)``.
    static let nowhere = Folder()

    private init() {
        held = nil
        raw = AT_FDCWD
        path = BytePath("")
    }

    /// - Precondition: `name` is one component: neither empty, `.` nor `..`, and without a slash.
    package subscript(name: [UInt8]) -> DirectoryEntry {
        precondition(
            !name.isEmpty && !name.contains(UInt8(ascii: "/")) && name != Array(".".utf8) && name != Array("..".utf8),
            "a name in a folder is one component")
        return DirectoryEntry(self, BytePath(bytes: name))
    }

    package func status() throws -> FileStatus {
        guard let held else { throw Fault(.failed, "there is no folder to look at") }
        return try held.status()
    }

    /// The names in it, in the folder's own order, without `.` and `..`.
    package func entries() throws -> [ListedEntry] { try listDirectory(reading()) }

    /// Opens the folder at a path, to be read; nil where there is none, or a link is on the way.
    package static func withoutLinks(_ path: BytePath) throws -> Descriptor? {
        Blocking.call()
        let raw = path.withCString(steward_open_folder)
        if raw >= 0 { return Descriptor(owning: raw, path: path) }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw Fault.system("open the folder", path)
    }

    /// Whether the names in it are on the disk when this returns (fsync(2)).
    package func sync() throws { try reading().sync() }

    /// The same folder, open for reading.
    package func reading() throws -> Descriptor {
        Blocking.call()
        let copy = openat(raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw Fault.system("open the folder", path) }
        return Descriptor(owning: copy, path: path)
    }

    /// The folder that this one lies in, by the kernel and not by its path; nil at the top of everything.
    package func above() throws -> Folder? {
        Blocking.call()
        let up = openat(raw, "..", pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard up >= 0 else { throw Fault.system("open the folder above", path) }
        let above = Folder(Descriptor(owning: up, path: path.parent))
        return try above.status().isSameFile(as: status()) ? nil : above
    }

    /// Whether this process may use it so (faccessat(2) with the effective user): `R_OK`, `W_OK`, `X_OK`.
    package func isAccessible(_ mode: Int32) -> Bool { faccessat(raw, ".", mode, AT_EACCESS) == 0 }

    /// The path at which it lies now, as the kernel tells it.
    package func currentPath() throws -> BytePath {
        Blocking.call()
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/fd/\(raw)", &buffer, buffer.count)
        guard length > 0 else { throw Fault.system("ask for the path of", path) }
        return BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) })
    }
}

/// A name in a folder that is held open: how every file of a person is reached (`ARCHITECTURE.md`, law 7).
///
/// Made by a ``Folder``, a ``Root`` or ``HeldFiles``, and otherwise only by the module `OwnFiles`.
public struct DirectoryEntry: Sendable {
    package let folder: Folder
    /// One component; a whole path where it counts from no folder.
    package let name: BytePath

    init(_ folder: Folder, _ name: BytePath) {
        self.folder = folder
        self.name = name
    }

    /// For people and for the ledger.
    package var path: BytePath { folder.path.appending(name) }

    /// Reached anew each time by its path, with whatever links are on the way: for the agent's own files, in folders
    /// that nobody else can write to. Only the module `OwnFiles` may say so: modules that touch a person's files do not
    /// import it (the arrows in `Package.swift`), so that none of them can come back to a file by a path.
    @_spi(OwnPaths) public init(unheld path: [UInt8]) {
        self.init(.nowhere, BytePath(bytes: path))
    }

    /// Another name in the same folder.
    package func sibling(_ name: some Sequence<UInt8>) -> DirectoryEntry {
        DirectoryEntry(folder, self.name.parent.appending(name: name))
    }

    /// lstat(2); nil where nothing has that name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package func status() throws -> FileStatus? {
        try name.withCString { try FileStatus.of($0, in: folder.raw) { path } }
    }

    /// When it was made, in nanoseconds since 1970; nil where the file system does not say, or nothing has that name.
    package func birth() throws -> Int64? {
        Blocking.call()
        var time: Int64 = 0
        switch name.withCString({ steward_birth(folder.raw, $0, &time) }) {
        case 0: return time
        case 1: return nil
        default:
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Fault.system("read the birth time of", path)
        }
    }

    /// Opens it with close-on-exec, without waiting and without becoming a terminal's; a symbolic link is refused with
    /// ELOOP.
    package func open(_ flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws -> Descriptor {
        Blocking.call()
        let raw = name.withCString {
            openat(folder.raw, $0, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, mode)
        }
        if raw >= 0 { return Descriptor(owning: raw, path: path) }
        if errno == ELOOP, folder !== Folder.nowhere { throw Fault.behindLink(path) }
        throw Fault.system("open", path)
    }

    /// Opens a regular file for reading, once: its hash, its bytes and its attributes are read from what this returns.
    ///
    /// - Throws: `Fault(.superseded)` where none has that name any more: a pipe or a folder has come in its place.
    package func openFile() throws -> Descriptor {
        let file: Descriptor
        do {
            file = try open()
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(fault.errno) {
            throw Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
        }
        guard try file.status().kind == .file else {
            throw Fault(.superseded, "\(path) is no file any more", path: path)
        }
        return file
    }

    /// The folder of that name; nil where it is none.
    package func openFolder() throws -> Folder? {
        do {
            return Folder(try open(O_RDONLY | O_DIRECTORY))
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP].contains(fault.errno) {
            return nil
        }
    }

    /// Makes it a folder.
    ///
    /// - Returns: false where something has that name already.
    package func makeDirectory(mode: mode_t) throws -> Bool {
        Blocking.call()
        guard name.withCString({ mkdirat(folder.raw, $0, mode) }) == 0 else {
            if errno == EEXIST { return false }
            throw Fault.system("make the folder", path)
        }
        FaultPoint.reach("folder made")
        return true
    }

    /// Whether this process may use it so (faccessat(2) with the effective user): `R_OK`, `W_OK`, `X_OK`.
    package func isAccessible(_ mode: Int32) -> Bool {
        name.withCString { faccessat(folder.raw, $0, mode, AT_EACCESS) } == 0
    }

    /// The hash of the file of that name as it is now. Blocks as long as reading it takes.
    ///
    /// - Throws: as ``openFile()``.
    package func hash() throws -> ContentHash { try ContentHash.of(openFile()) }

    /// Syncs the folder that the name is in.
    package func syncFolder() throws {
        Blocking.call()
        if folder.raw != AT_FDCWD { return try folder.sync() }
        let parent = name.parent.isEmpty ? BytePath(name.isAbsolute ? "/" : ".") : name.parent
        let raw = parent.withCString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard raw >= 0 else { throw Fault.system("open the folder", parent) }
        try Descriptor(owning: raw, path: parent).sync()
    }

    /// Whether its folder lies on that file system, as far as that can be told.
    func isOnDevice(_ device: UInt64) throws -> Bool {
        try folder === Folder.nowhere || folder.status().device == device
    }

    package func isInSameFolder(as other: DirectoryEntry) -> Bool {
        folder === other.folder && name.parent == other.name.parent
    }
}

/// O_PATH, which Glibc shows only to GNU sources; the same on every architecture that Swift runs on.
package let pathOnly: Int32 = 0o10_000_000
