import Glibc
import Platform

// The operations of `Durable` and `Mover` on paths of the agent's own. Every call blocks.

extension Durable {
    /// Creates a folder and any missing parents with this mode; syncs each new name.
    ///
    /// - Parameter root: a folder that may be away, such as an unmounted disk, and is never created.
    /// - Throws: `Fault`; transient if `root` is missing.
    package static func makeDirectory(_ path: BytePath, below root: BytePath? = nil, mode: mode_t = 0o755) throws {
        if path.isEmpty { return }
        if let found = try FileStatus.of(path) {
            if found.kind == .directory { return }
            // The user may have moved the folder elsewhere and left a symbolic link.
            var target = stat()
            if path.withCString({ stat($0, &target) }) == 0, target.st_mode & S_IFMT == S_IFDIR { return }
            throw Fault(.failed, "\(path) is in the way: a folder is needed there", path: path)
        }
        if path == root { throw Fault(.transient, "\(path) does not exist, and is not created again", path: path) }
        try makeDirectory(path.parent, below: root, mode: mode)
        if try DirectoryEntry(own: path).makeDirectory(mode: mode) { try DirectoryEntry(own: path).syncFolder() }
    }

    package static func syncDirectory(_ path: BytePath) throws {
        try Descriptor(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY, follow: true).sync()
    }

    /// A name that is unique among the files of all agents on all hosts: `.steward-<host>-<16 hex>`.
    package static func temporaryName(in directory: BytePath) -> BytePath { directory.appending(temporaryName()) }

    /// See ``stage(_:for:mode:record:)``.
    package static func stage(
        _ bytes: some Collection<UInt8>, for target: BytePath, mode: mode_t = 0o644, record: Record = { _, _ in }
    ) throws -> BytePath {
        try stage(bytes, for: DirectoryEntry(own: target), mode: mode, record: record).path
    }

    /// See ``stageCopy(of:for:keepsOwner:record:)``.
    package static func stageCopy(
        of source: Descriptor, for target: BytePath, record: Record = { _, _ in }
    ) throws -> (path: BytePath, hash: ContentHash, lost: [String]) {
        let copy = try stageCopy(of: source, for: DirectoryEntry(own: target), record: record)
        return (copy.entry.path, copy.hash, copy.lost)
    }

    /// See ``renameNew(_:to:)``.
    package static func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        try renameNew(DirectoryEntry(own: source), to: DirectoryEntry(own: target))
    }

    /// See ``exchange(_:_:)``.
    package static func exchange(_ one: BytePath, _ other: BytePath) throws {
        try exchange(DirectoryEntry(own: one), DirectoryEntry(own: other))
    }

    /// Unlinks a file; a no-op if it is already gone.
    package static func remove(_ path: BytePath) throws { try remove(DirectoryEntry(own: path)) }

    /// Creates or replaces a file of the agent's own (never a user's): stage, rename, sync.
    package static func replaceOwn(_ path: BytePath, with bytes: some Collection<UInt8>, mode: mode_t = 0o600) throws {
        try replaceOwn(DirectoryEntry(own: path), with: bytes, mode: mode)
    }
}

extension Mover {
    /// See ``move(_:to:through:_:record:)``.
    package static func move(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        try move(
            Source(DirectoryEntry(own: source), expecting: expected), to: targets, through: DirectoryEntry.init(own:),
            record: record)
    }

    /// See ``copy(_:to:through:_:record:)``.
    package static func copy(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        try copy(
            Source(DirectoryEntry(own: source), expecting: expected), to: targets, through: DirectoryEntry.init(own:),
            record: record)
    }

    /// See ``create(_:at:through:mode:record:)``.
    package static func create(
        _ bytes: [UInt8], at targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        try create(bytes, at: targets, through: DirectoryEntry.init(own:), record: record)
    }

    /// See ``removeSource(_:expecting:)``.
    package static func removeSource(_ source: BytePath, expecting expected: ContentHash) throws {
        try removeSource(DirectoryEntry(own: source), expecting: expected)
    }
}
