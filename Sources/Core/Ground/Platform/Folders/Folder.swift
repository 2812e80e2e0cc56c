import CLinux
import Glibc

/// An open folder: operations below it apply to this very folder, even if its path now leads elsewhere.
///
/// `path` is for display and the ledger, never a way back to it. Calls block.
package final class Folder: Sendable {
    package let path: BytePath
    /// The descriptor for calls of the `…at` family.
    package let raw: Int32
    private let held: Descriptor?

    /// - Parameter held: an open folder; a path descriptor (O_PATH) is enough.
    package init(_ held: Descriptor) {
        self.held = held
        raw = held.raw
        path = held.path
    }

    /// The base of names that are whole paths: see ``DirectoryEntry/init(unheld:)``.
    static let nowhere = Folder()

    private init() {
        held = nil
        raw = AT_FDCWD
        path = BytePath("")
    }

    /// - Precondition: `name` is one component: not empty, `.` or `..`, and without a slash.
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

    /// The names in it, in directory order, without `.` and `..`.
    package func entries() throws -> [ListedEntry] { try listDirectory(reading()) }

    /// Opens the folder at a path for reading; nil if there is none, or a link is on the way.
    package static func withoutLinks(_ path: BytePath) throws -> Descriptor? {
        Blocking.call()
        let raw = path.withCString(steward_open_folder)
        if raw >= 0 { return Descriptor(owning: raw, path: path) }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw Fault.system("open the folder", path)
    }

    /// Syncs the folder's names to disk (fsync(2)).
    package func sync() throws { try reading().sync() }

    /// The same folder, open for reading.
    package func reading() throws -> Descriptor {
        Blocking.call()
        let copy = openat(raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw Fault.system("open the folder", path) }
        return Descriptor(owning: copy, path: path)
    }

    /// The parent folder, according to the kernel rather than the path; nil at the root of the file system.
    package func above() throws -> Folder? {
        Blocking.call()
        let up = openat(raw, "..", pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard up >= 0 else { throw Fault.system("open the folder above", path) }
        let above = Folder(Descriptor(owning: up, path: path.parent))
        return try above.status().isSameFile(as: status()) ? nil : above
    }

    /// Whether this process has that access (faccessat(2) with the effective user): `R_OK`, `W_OK`, `X_OK`.
    package func isAccessible(_ mode: Int32) -> Bool { faccessat(raw, ".", mode, AT_EACCESS) == 0 }

    /// Its current path, according to the kernel.
    package func currentPath() throws -> BytePath {
        Blocking.call()
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/fd/\(raw)", &buffer, buffer.count)
        guard length > 0 else { throw Fault.system("ask for the path of", path) }
        return BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) })
    }
}

/// A name in an open folder: the way to access every file of a person (`ARCHITECTURE.md`, law 7).
///
/// Created by a ``Folder``, a ``Root`` or ``HeldFiles``, and otherwise only by the module `OwnFiles`.
public struct DirectoryEntry: Sendable {
    package let folder: Folder
    /// One component; a whole path if there is no base folder.
    package let name: BytePath

    init(_ folder: Folder, _ name: BytePath) {
        self.folder = folder
        self.name = name
    }

    /// For display and the ledger.
    package var path: BytePath { folder.path.appending(name) }

    /// Looked up by path on each access, following any links on the way: for the agent's own files, in folders that
    /// nobody else can write to. Only the module `OwnFiles` may call this; modules that handle people's files do not
    /// import it (the arrows in `Package.swift`), so they cannot reach a file by its path.
    @_spi(OwnPaths) public init(unheld path: [UInt8]) {
        self.init(.nowhere, BytePath(bytes: path))
    }

    /// Another name in the same folder.
    package func sibling(_ name: some Sequence<UInt8>) -> DirectoryEntry {
        DirectoryEntry(folder, self.name.parent.appending(name: name))
    }

    /// lstat(2); nil if there is no such name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package func status() throws -> FileStatus? {
        try name.withCString { try FileStatus.of($0, in: folder.raw) { path } }
    }

    /// When it was created, in nanoseconds since 1970; nil if the file system does not say, or there is no such name.
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

    /// Opens it with close-on-exec, without blocking and without acquiring a controlling terminal; a symbolic link is
    /// refused with ELOOP.
    package func open(_ flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws -> Descriptor {
        Blocking.call()
        let raw = name.withCString {
            openat(folder.raw, $0, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, mode)
        }
        if raw >= 0 { return Descriptor(owning: raw, path: path) }
        if errno == ELOOP, folder !== Folder.nowhere { throw Fault.behindLink(path) }
        throw Fault.system("open", path)
    }

    /// Opens a regular file for reading, once: hash, bytes and attributes are all read from the returned descriptor.
    ///
    /// - Throws: `Fault(.superseded)` if there is no such file any more: a pipe or a folder may have replaced it.
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

    /// The folder of that name; nil if it is not a folder.
    package func openFolder() throws -> Folder? {
        do {
            return Folder(try open(O_RDONLY | O_DIRECTORY))
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP].contains(fault.errno) {
            return nil
        }
    }

    /// Creates a folder of that name.
    ///
    /// - Returns: false if the name is taken.
    package func makeDirectory(mode: mode_t) throws -> Bool {
        Blocking.call()
        guard name.withCString({ mkdirat(folder.raw, $0, mode) }) == 0 else {
            if errno == EEXIST { return false }
            throw Fault.system("make the folder", path)
        }
        FaultPoint.reach("folder made")
        return true
    }

    /// Whether this process has that access (faccessat(2) with the effective user): `R_OK`, `W_OK`, `X_OK`.
    package func isAccessible(_ mode: Int32) -> Bool {
        name.withCString { faccessat(folder.raw, $0, mode, AT_EACCESS) } == 0
    }

    /// The current hash of the file of that name. Blocks while reading it.
    ///
    /// - Throws: as ``openFile()``.
    package func hash() throws -> ContentHash { try ContentHash.of(openFile()) }

    /// Syncs the folder that contains the name.
    package func syncFolder() throws {
        Blocking.call()
        if folder.raw != AT_FDCWD { return try folder.sync() }
        let parent = name.parent.isEmpty ? BytePath(name.isAbsolute ? "/" : ".") : name.parent
        let raw = parent.withCString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard raw >= 0 else { throw Fault.system("open the folder", parent) }
        try Descriptor(owning: raw, path: parent).sync()
    }

    /// Whether its folder is on that device, as far as can be determined.
    func isOnDevice(_ device: UInt64) throws -> Bool {
        try folder === Folder.nowhere || folder.status().device == device
    }

    package func isInSameFolder(as other: DirectoryEntry) -> Bool {
        folder === other.folder && name.parent == other.name.parent
    }
}

/// O_PATH, which Glibc exposes only to GNU sources; the same on every architecture that Swift runs on.
package let pathOnly: Int32 = 0o10_000_000
