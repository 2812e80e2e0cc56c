import Glibc
@_spi(OwnPaths) import Platform

// Reaching files by their paths: for the agent's own (configuration, state, vaults, caches), for /proc, and for what a
// person names on the command line with their own rights. Modules that are led to files by what lies in a place (Rules,
// the actions, Watching) do not import this one, so the compiler keeps them to ``DirectoryEntry`` (`ARCHITECTURE.md`, law 7).

extension DirectoryEntry {
    /// A file of the agent's own, reached anew by its path each time.
    package init(own path: BytePath) { self.init(unheld: path.bytes) }
}

extension Descriptor {
    /// Opens `path` with close-on-exec; symbolic links at its end are refused unless `follow`.
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
    /// lstat(2); nil where nothing has that name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package static func of(_ path: BytePath) throws -> FileStatus? { try DirectoryEntry(own: path).status() }
}

/// The names in `path`, in the directory's own order, without `.` and `..`. Symbolic links are not followed.
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
    /// Opens `relative` below `root`. Links that stay inside are followed, those in the path of `root` as well.
    ///
    /// - Throws: `Fault`; errno EXDEV where the path would leave `root`.
    package static func open(
        _ relative: BytePath, beneath root: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o644
    ) throws -> Descriptor {
        try open(relative, beneath: Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true), flags, mode: mode)
    }
}

extension ReadAccess {
    /// False only where permission is what lacks. Blocks.
    package static func isGranted(_ path: BytePath) -> Bool { isGranted(DirectoryEntry(own: path)) }
}

extension WorkNames {
    /// The first of the names that stands beside `path` now.
    package static func editorLock(on path: BytePath) throws -> BytePath? {
        try editorLock(on: DirectoryEntry(own: path))
    }
}

extension Openers {
    /// `vim (process 123)`, several joined by commas; `another process` where /proc does not tell. Blocks.
    package static func describe(_ path: BytePath) -> String { describe(DirectoryEntry(own: path)) }

    package static func processes(holding path: BytePath) -> [(id: Int32, name: String)] {
        processes(holding: DirectoryEntry(own: path))
    }
}
