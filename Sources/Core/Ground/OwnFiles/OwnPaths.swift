import Glibc
@_spi(OwnPaths) import Platform

// Access to files by path: for the agent's own (configuration, state, vaults, caches), for /proc, and for paths on the
// command line, used with the caller's own rights. Modules that find files through the contents of a place (Rules, the
// actions, Watching) do not import this one, so the compiler restricts them to ``DirectoryEntry`` (`ARCHITECTURE.md`,
// law 7).

extension DirectoryEntry {
    /// A file of the agent's own, looked up by path on each access.
    package init(own path: BytePath) { self.init(unheld: path.bytes) }
}

extension Descriptor {
    /// Opens `path` with close-on-exec; refuses a symbolic link at its end unless `follow`.
    ///
    /// - Throws: `Fault` with the errno of open(2).
    package convenience init(
        _ path: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600, follow: Bool = false
    ) throws {
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)
        let raw = path.withCString { open($0, all, mode) }
        guard raw >= 0 else { throw Fault.system("open", path) }
        self.init(owning: raw, path: path)
    }
}

extension FileStatus {
    /// lstat(2); nil if there is no such name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package static func of(_ path: BytePath) throws -> FileStatus? { try DirectoryEntry(own: path).status() }
}

/// The names in `path`, in directory order, without `.` and `..`. Does not follow a symbolic link.
///
/// - Throws: `Fault` with the errno of open(2) or readdir(3).
package func listDirectory(_ path: BytePath) throws -> [ListedEntry] {
    try Folder(Descriptor(path, O_RDONLY | O_DIRECTORY)).entries()
}

extension ContentHash {
    /// Hashes the file at `path`. Blocks.
    package static func ofFile(_ path: BytePath) throws -> ContentHash { try DirectoryEntry(own: path).hash() }
}

extension SafePath {
    /// Opens `relative` below `root`. Follows links that stay inside, and links in the path of `root`.
    ///
    /// - Throws: `Fault`; errno EXDEV if the path would leave `root`.
    package static func open(
        _ relative: BytePath, beneath root: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o644
    ) throws -> Descriptor {
        try open(relative, beneath: Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true), flags, mode: mode)
    }
}

extension ReadAccess {
    /// False only if permission is denied. Blocks.
    package static func isGranted(_ path: BytePath) -> Bool { isGranted(DirectoryEntry(own: path)) }
}

extension WorkNames {
    /// The first of the lock names that exists next to `path`.
    package static func editorLock(on path: BytePath) throws -> BytePath? {
        try editorLock(on: DirectoryEntry(own: path))
    }
}

extension Openers {
    /// `vim (process 123)`, several separated by commas; `another process` if /proc does not tell. Blocks.
    package static func describe(_ path: BytePath) -> String { describe(DirectoryEntry(own: path)) }

    package static func processes(holding path: BytePath) -> [(id: Int32, name: String)] {
        processes(holding: DirectoryEntry(own: path))
    }
}
