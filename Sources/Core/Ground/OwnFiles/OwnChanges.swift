import Glibc
import Platform

// What `Durable` and `Mover` do, at paths of the agent's own. Everything here blocks.

extension Durable {
    /// Makes the folder and those above it, with this mode where it has to make one; syncs each new name.
    ///
    /// - Parameter root: a folder that may be away and is never made: an unmounted disk, say.
    /// - Throws: `Fault`; transient where `root` is not there.
    package static func makeDirectory(_ path: BytePath, below root: BytePath? = nil, mode: mode_t = 0o755) throws {
        if path.isEmpty { return }
        if let found = try FileStatus.of(path) {
            if found.kind == .directory { return }
            // A symbolic link to a folder is the user's way of putting it elsewhere.
            var target = stat()
            if path.withCString({ stat($0, &target) }) == 0, target.st_mode & S_IFMT == S_IFDIR { return }
            throw Fault(.failed, "\(path) is in the way: a folder is needed there", path: path)
        }
        if path == root { throw Fault(.transient, "\(path) is not there, and is not made anew", path: path) }
        try makeDirectory(path.parent, below: root, mode: mode)
        if try DirectoryEntry(own: path).makeDirectory(mode: mode) { try DirectoryEntry(own: path).syncFolder() }
    }

    package static func syncDirectory(_ path: BytePath) throws {
        try Descriptor(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY, follow: true).sync()
    }

    /// A name that no other file of this or another host's agent has: `.steward-<host>-<16 hex>`.
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
        return (copy.spot.path, copy.hash, copy.lost)
    }

    /// See ``renameNew(_:to:)``.
    package static func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        try renameNew(DirectoryEntry(own: source), to: DirectoryEntry(own: target))
    }

    /// See ``exchange(_:_:)``.
    package static func exchange(_ one: BytePath, _ other: BytePath) throws {
        try exchange(DirectoryEntry(own: one), DirectoryEntry(own: other))
    }

    /// Unlinks a file; one that is already gone is fine.
    package static func remove(_ path: BytePath) throws { try remove(DirectoryEntry(own: path)) }

    /// Replaces or makes a file of the agent's own (never a user's): stage, rename, sync.
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
