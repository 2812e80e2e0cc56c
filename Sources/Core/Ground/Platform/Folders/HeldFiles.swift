import Glibc
import Synchronization

/// The files used by one unit of work. Each folder is opened once, below its root, and stays open to the end, as does
/// each opened file. Paths are only names here: they select one of the open folders, and never lead anywhere themselves
/// (`ARCHITECTURE.md`, law 7).
///
/// Every call blocks. Create one per job: open files kept for an idle job would be stale when it resumes.
package final class HeldFiles: Sendable {
    /// Finds the root that contains a path.
    ///
    /// - Throws: `Fault(.transient)` if the root is away.
    package typealias Finder = @Sendable (BytePath) throws -> (root: Root, path: BytePath)

    private let find: Finder
    private let folders = Mutex<[BytePath: Folder]>([:])
    private let files = Mutex<[BytePath: Descriptor]>([:])
    /// The file or folder that the work is about, and its size when judged.
    private let source = Mutex<(path: BytePath, size: Int64?)?>(nil)

    package init(_ find: @escaping Finder) { self.find = find }

    /// Access to existing or new files below a folder of the agent's own. Follows links in the path of the folder, but
    /// none below it.
    package convenience init(own folder: BytePath) {
        self.init { path in
            guard path.isWithin(folder) else { throw Fault(.failed, "\(path) is not in \(folder)", path: path) }
            return try Self.root(folder, holding: path)
        }
    }

    /// Access to files below the first of these folders that contains them, and to all others from the root of the file
    /// system, following no links. Follows links in the paths of the folders, but none below them.
    package convenience init(below folders: [BytePath]) {
        self.init { path in
            try Self.root(folders.first { path.isWithin($0) && path != $0 } ?? "/", holding: path)
        }
    }

    /// The folder, or its deepest existing parent, and the path from it to `path`.
    package static func root(_ folder: BytePath, holding path: BytePath) throws -> (root: Root, path: BytePath) {
        var root = folder
        while true {
            if path != root, let found = try FolderIdentity.open(root), let relative = path.relative(to: root) {
                return (Root(found), relative)
            }
            guard root.bytes.count > 1 else { throw Fault.system("find", path, errno: ENOENT) }
            root = root.parent
        }
    }

    // MARK: Reaching

    /// Sets what the work is about, before each of its steps. It has been judged, so from now on a missing part of its
    /// path means that it is gone (`.superseded`), whichever call finds out.
    ///
    /// - Parameter size: if the file has another size, it is not read to the end: the judged version is gone. nil for
    ///   any size.
    package func begin(on path: BytePath, size: Int64?) { source.withLock { $0 = (path, size) } }

    /// The result of resolving the path to a name.
    private enum Way {
        /// The open folder of the name; the name itself may not exist.
        case open(DirectoryEntry)
        /// A folder on the way is gone or was replaced by something else.
        case gone(Fault)
    }

    /// The single place that decides what a missing part of a path means.
    private func way(to path: BytePath) throws -> Way {
        let parent = path.parent
        if let folder = folders.withLock({ $0[parent] }) { return .open(folder[path.name]) }
        let (root, relative) = try find(path)
        let entry: DirectoryEntry
        do {
            entry = try root.entry(relative)
        } catch let fault as Fault where Self.isMissing(fault) {
            return .gone(fault)
        }
        let held = folders.withLock { folders in
            let first = folders[parent] ?? entry.folder
            folders[parent] = first
            return first
        }
        return .open(held[path.name])
    }

    private static func isMissing(_ fault: Fault) -> Bool {
        fault.errno == ENOENT || fault.errno == ENOTDIR || fault.code == Fault.link
    }

    /// Whether a missing folder on the way to `path` means that the source is missing too, because its path leads
    /// through the same folder.
    private func leadsToSource(_ path: BytePath) -> Bool {
        guard let source = source.withLock({ $0?.path }) else { return false }
        return path.isWithin(source) || source.isWithin(path.parent)
    }

    private func missing(_ path: BytePath, _ fault: Fault) -> Fault {
        guard leadsToSource(path) else { return fault }
        return Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
    }

    /// Uses a name. If that fails because the name is gone and the work is about it, throws `.superseded`.
    private func reaching<R>(_ path: BytePath, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault where Self.isMissing(fault) && fault.kind == .failed {
            guard let source = source.withLock({ $0?.path }), path.isWithin(source) else { throw fault }
            throw Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
        }
    }

    /// The name at that path, in its open folder.
    ///
    /// - Throws: `Fault`; ENOENT if the folder does not exist, ELOOP or EXDEV if a link is in the way; `.superseded`
    ///   instead if that means that the subject of the work is gone (``begin(on:size:)``).
    package func entry(_ path: BytePath) throws -> DirectoryEntry {
        switch try way(to: path) {
        case .open(let entry): return entry
        case .gone(let fault): throw missing(path, fault)
        }
    }

    /// Like ``entry(_:)``; nil if the folder does not exist, or was replaced by something else.
    package func entryIfAny(_ path: BytePath) throws -> DirectoryEntry? {
        switch try way(to: path) {
        case .open(let entry): return entry
        case .gone(let fault) where fault.code == Fault.link: throw fault
        case .gone: return nil
        }
    }

    /// Whether the name no longer exists, or the way to it is gone or leads through a link.
    package func isGone(_ path: BytePath) throws -> Bool {
        switch try way(to: path) {
        case .open(let entry): return try entry.status() == nil
        case .gone: return true
        }
    }

    /// lstat(2); nil if there is no such name.
    package func status(_ path: BytePath) throws -> FileStatus? { try entryIfAny(path)?.status() }

    /// Whether it is a link, or is reached through one.
    package func isBehindLink(_ path: BytePath) throws -> Bool {
        do {
            return try status(path)?.kind == .link
        } catch let fault as Fault where fault.code == Fault.link {
            return true
        }
    }

    /// Opens the current file of that name.
    package func open(_ path: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws -> Descriptor {
        try reaching(path) { try entry(path).open(flags, mode: mode) }
    }

    /// The regular file that had the name at the first call, open for reading; the same at each call.
    ///
    /// - Throws: `Fault(.superseded)` if there is none.
    package func file(_ path: BytePath) throws -> Descriptor {
        if let file = files.withLock({ $0[path] }) { return file }
        let file: Descriptor
        do {
            file = try entry(path).openFile()
        } catch let fault as Fault where Self.isMissing(fault) {
            throw Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
        }
        return files.withLock { files in
            let first = files[path] ?? file
            files[path] = first
            return first
        }
    }

    /// The same, if it has the size that was judged: for files about to be read to the end.
    package func judged(_ path: BytePath) throws -> Descriptor {
        let file = try file(path)
        if let source = source.withLock({ $0 }), source.path == path, let size = source.size,
            try file.status().size != size
        {
            throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
        }
        return file
    }

    /// The same, if the name still refers to it: for files that others will look up by name.
    package func present(_ path: BytePath) throws -> Descriptor {
        let file = try file(path)
        guard try status(path)?.isSameFile(as: file.status()) == true else {
            throw Fault(.superseded, "\(path) is gone, or was replaced by another file", path: path)
        }
        return file
    }

    // MARK: Where a place follows links that stay inside

    /// Opens the file that the name leads to, through a link at its end if its place follows such links.
    package func openFollowing(_ path: BytePath, _ flags: Int32 = O_RDONLY) throws -> Descriptor {
        let (root, relative) = try find(path)
        return try reaching(path) {
            root.links == .never ? try entry(path).open(flags) : try root.open(relative, flags)
        }
    }

    /// The name itself or, if its place follows links, the name that it leads to: the file to replace.
    package func resolved(_ path: BytePath) throws -> BytePath {
        let (root, relative) = try find(path)
        guard root.links == .inside, try status(path)?.kind == .link else { return path }
        let real = try Folder(root.locate(relative)).currentPath()
        guard let below = try real.relative(to: root.folder.currentPath()) else {
            throw Fault(
                .failed, "\(path) leads out of \(root.folder.path)", path: path, errno: EXDEV, code: Fault.link)
        }
        return root.folder.path.appending(below)
    }

    /// stat(2) of the file that the name leads to; nil if there is none.
    package func statusFollowing(_ path: BytePath) throws -> FileStatus? {
        guard let status = try status(path), status.kind == .link else { return try status(path) }
        let (root, relative) = try find(path)
        guard root.links == .inside else { return status }
        do {
            return try root.locate(relative).status()
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
    }

    /// The hash of the current file of that name.
    package func hash(_ path: BytePath) throws -> ContentHash { try entry(path).hash() }

    /// A folder, opened now and not kept: there may be very many.
    package func folder(_ path: BytePath) throws -> Folder {
        // The root is found by a name below the folder.
        let (root, relative) = try find(path.appending("."))
        return try reaching(path) { try root.folder(relative.parent) }
    }

    /// The names in a folder; see ``Folder/entries()``.
    package func list(_ folder: BytePath) throws -> [ListedEntry] { try self.folder(folder).entries() }

    /// Closes the files but keeps the folders open: between two steps of a job, others may have saved the file under
    /// its name, and the agent's own lease requires it to be closed.
    package func closeFiles() { files.withLock { $0 = [:] } }

    // MARK: Changing

    /// Creates missing parent folders of `path`, but never the root, nor a folder that contained the source: that one
    /// has been renamed.
    ///
    /// - Throws: `Fault(.superseded)` if such a folder is missing.
    package func makeFolders(for path: BytePath, mode: mode_t = 0o755) throws {
        // A folder that was removed in the meantime is created again.
        if let held = folders.withLock({ $0[path.parent] }), try held.status().links > 0 { return }
        let (root, relative) = try find(path)
        if let shared = source.withLock({ $0?.path.parent.common(with: path.parent) }),
            shared.isWithin(root.folder.path),
            shared != root.folder.path
        {
            _ = try entry(shared.appending("source"))
        }
        let folder = try root.makeFolder(relative.parent, mode: mode)
        folders.withLock { $0[path.parent] = folder }
    }

    /// See ``Mover/move(_:to:through:_:purpose:clear:record:)``; the names are tried in order.
    package func move(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>,
        _ manner: Mover.Manner = Mover.Manner(), purpose: String? = nil, clear: Mover.Clear? = nil,
        record: Mover.Record
    ) throws -> Mover.Placed {
        let placed = try Mover.move(
            opened(source, expected), to: targets, through: entry, manner, purpose: purpose, clear: clear,
            record: record)
        let held = files.withLock { $0.removeValue(forKey: source) }
        // A rename keeps the file; a copy is a different one.
        let print = try held?.status().fingerprint
        let isSame = print?.inode == placed.fingerprint.inode && print?.device == placed.fingerprint.device
        files.withLock { $0[placed.path] = isSame ? held : nil }
        return placed
    }

    /// See ``Mover/copy(_:to:through:_:clear:record:)``.
    package func copy(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>,
        _ manner: Mover.Manner = Mover.Manner(), clear: Mover.Clear? = nil, record: Mover.Record
    ) throws -> Mover.Placed {
        let placed = try Mover.copy(
            opened(source, expected), to: targets, through: entry, manner, clear: clear, record: record)
        forget(placed.path)
        return placed
    }

    /// See ``Mover/create(_:at:through:mode:clear:record:)``.
    package func create(
        _ bytes: [UInt8], at targets: some Sequence<BytePath>, mode: mode_t = 0o644, clear: Mover.Clear? = nil,
        record: Mover.Record
    ) throws -> Mover.Placed {
        let placed = try Mover.create(bytes, at: targets, through: entry, mode: mode, clear: clear, record: record)
        forget(placed.path)
        return placed
    }

    /// See ``Mover/removeSource(_:expecting:purpose:going:)``.
    package func removeSource(
        _ source: BytePath, expecting expected: ContentHash, purpose: String? = nil, going: () throws -> Void = {}
    ) throws {
        guard let entry = try entryIfAny(source) else { return }
        try Mover.removeSource(entry, expecting: expected, purpose: purpose, going: going)
        forget(source)
    }

    /// Unlinks a file; a no-op if it is already gone.
    package func remove(_ path: BytePath) throws {
        if let entry = try entryIfAny(path) { try Durable.remove(entry) }
        forget(path)
    }

    /// See ``Durable/discard(_:record:)``.
    package func discard(_ path: BytePath, record: Durable.Record) throws {
        if let entry = try entryIfAny(path) { try Durable.discard(entry, record: record) }
        forget(path)
    }

    /// Created, moved or replaced files are reopened on the next access.
    private func forget(_ paths: BytePath...) {
        files.withLock { files in for path in paths { files[path] = nil } }
    }

    /// Removes an empty folder; leaves any other alone.
    package func removeFolder(_ path: BytePath) throws {
        guard let entry = try entryIfAny(path) else { return }
        _ = try Durable.removeFolder(entry)
        _ = folders.withLock { $0.removeValue(forKey: path) }
    }

    package func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        defer { forget(source, target) }
        return try Durable.renameNew(entry(source), to: entry(target))
    }

    /// Writes a new file next to `target`; see ``Durable/stage(_:for:mode:record:)``.
    package func stage(
        _ bytes: some Collection<UInt8>, for target: BytePath, mode: mode_t = 0o644,
        record: Durable.Record = { _, _ in }
    ) throws -> BytePath {
        try Durable.stage(bytes, for: entry(target), mode: mode, record: record).path
    }

    package func replaceOwn(_ path: BytePath, with bytes: some Collection<UInt8>, mode: mode_t = 0o600) throws {
        defer { forget(path) }
        try Durable.replaceOwn(entry(path), with: bytes, mode: mode)
    }

    /// Replaces a file with a staged one; see ``Durable/replace(_:with:)``.
    package func replace(_ path: BytePath, with staged: BytePath) throws {
        defer { forget(path, staged) }
        try Durable.replace(entry(path), with: entry(staged))
    }

    /// Swaps two names; see ``Durable/exchange(_:_:)``.
    package func exchange(_ one: BytePath, _ other: BytePath) throws {
        defer { forget(one, other) }
        try Durable.exchange(entry(one), entry(other))
    }

    /// The processes that have it open, as text; see ``Openers``.
    package func openers(_ path: BytePath) -> String {
        // For a message: if it cannot be examined, the processes are unknown.
        (try? entry(path)).map { Openers.describe($0) } ?? "another process"
    }

    /// The first editor lock that exists next to `path`; see ``WorkNames/editorLock(on:)``.
    package func editorLock(on path: BytePath) throws -> BytePath? {
        guard let entry = try entryIfAny(path) else { return nil }
        return try WorkNames.editorLock(on: entry)
    }

    private func opened(_ path: BytePath, _ expected: ContentHash) throws -> Mover.Source {
        try Mover.Source(entry(path), judged(path), expecting: expected)
    }
}
