import Glibc
import Synchronization

/// The files that one piece of work reaches: each folder is opened once, below its root, and held to the end; a file
/// that was opened stays open. Paths are names here: they say which of the held folders is meant, and never lead anywhere
/// by themselves (`ARCHITECTURE.md`, law 7).
///
/// Everything blocks. Made anew for each job: what a job at rest would hold open would be out of date when it goes on.
package final class HeldFiles: Sendable {
    /// Finds the root that a path lies below.
    ///
    /// - Throws: `Fault(.transient)` where the root is away.
    package typealias Finder = @Sendable (BytePath) throws -> (root: Root, path: BytePath)

    private let find: Finder
    private let folders = Mutex<[BytePath: Folder]>([:])
    private let files = Mutex<[BytePath: Descriptor]>([:])
    /// What the work is about, and of which size it was judged.
    private let source = Mutex<(path: BytePath, size: Int64?)?>(nil)

    package init(_ find: @escaping Finder) { self.find = find }

    /// Reaches what lies below a folder of the agent's own, or is to be made there. Links that lead to the folder are
    /// followed, none below it.
    package convenience init(own folder: BytePath) {
        self.init { path in
            guard path.isWithin(folder) else { throw Fault(.failed, "\(path) does not lie in \(folder)", path: path) }
            return try Self.root(folder, holding: path)
        }
    }

    /// Reaches what lies below the first of some folders that holds it, and everything else from the top of the file
    /// system, through no link at all. Links that lead to the folders are followed, none below them.
    package convenience init(below folders: [BytePath]) {
        self.init { path in
            try Self.root(folders.first { path.isWithin($0) && path != $0 } ?? "/", holding: path)
        }
    }

    /// The folder, or the deepest of those above it that is there, and the way from it to `path`.
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

    /// Says what the work is about, before each of its steps. It was judged, so from here on a part of the way to it that is
    /// missing means that it is gone (`.superseded`), whoever finds that out and by whichever call.
    ///
    /// - Parameter size: a file of another one is not read to its end: what was judged is gone then. Nil for any.
    package func begin(on path: BytePath, size: Int64?) { source.withLock { $0 = (path, size) } }

    /// What is found on the way to a name.
    private enum Way {
        /// Its folder, held open; whether anything has the name is another question.
        case open(DirectoryEntry)
        /// A folder on the way is gone, or something else stands in its place.
        case gone(Fault)
    }

    /// The one place that decides what it means that a part of the way is missing.
    private func way(to path: BytePath) throws -> Way {
        let parent = path.parent
        if let folder = folders.withLock({ $0[parent] }) { return .open(folder[path.name]) }
        let (root, relative) = try find(path)
        let spot: DirectoryEntry
        do {
            spot = try root.spot(relative)
        } catch let fault as Fault where Self.isMissing(fault) {
            return .gone(fault)
        }
        let held = folders.withLock { folders in
            let first = folders[parent] ?? spot.folder
            folders[parent] = first
            return first
        }
        return .open(held[path.name])
    }

    private static func isMissing(_ fault: Fault) -> Bool {
        fault.errno == ENOENT || fault.errno == ENOTDIR || fault.code == Fault.link
    }

    /// Whether a folder that is missing on the way to `path` means that the source is missing too: the way there leads
    /// through the same folder.
    private func leadsToSource(_ path: BytePath) -> Bool {
        guard let source = source.withLock({ $0?.path }) else { return false }
        return path.isWithin(source) || source.isWithin(path.parent)
    }

    private func missing(_ path: BytePath, _ fault: Fault) -> Fault {
        guard leadsToSource(path) else { return fault }
        return Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
    }

    /// Does something with a name. Where that fails because the name is gone, and the work is about it, that is said.
    private func reaching<R>(_ path: BytePath, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault where Self.isMissing(fault) && fault.kind == .failed {
            guard let source = source.withLock({ $0?.path }), path.isWithin(source) else { throw fault }
            throw Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
        }
    }

    /// The name of that path, in its folder held open.
    ///
    /// - Throws: `Fault`; ENOENT where the folder is not there, ELOOP or EXDEV where a link is in the way; `.superseded`
    ///   instead where that means that what the work is about is gone (``begin(on:size:)``).
    package func spot(_ path: BytePath) throws -> DirectoryEntry {
        switch try way(to: path) {
        case .open(let spot): return spot
        case .gone(let fault): throw missing(path, fault)
        }
    }

    /// As ``spot(_:)``; nil where the folder is not there, or something that is none stands in its place.
    package func spotIfAny(_ path: BytePath) throws -> DirectoryEntry? {
        switch try way(to: path) {
        case .open(let spot): return spot
        case .gone(let fault) where fault.code == Fault.link: throw fault
        case .gone: return nil
        }
    }

    /// Whether nothing has the name any more, or the way to it is gone or leads through a link.
    package func isGone(_ path: BytePath) throws -> Bool {
        switch try way(to: path) {
        case .open(let spot): return try spot.status() == nil
        case .gone: return true
        }
    }

    /// lstat(2); nil where nothing has that name.
    package func status(_ path: BytePath) throws -> FileStatus? { try spotIfAny(path)?.status() }

    /// Whether a link stands in the way to it, or in its place.
    package func isBehindLink(_ path: BytePath) throws -> Bool {
        do {
            return try status(path)?.kind == .link
        } catch let fault as Fault where fault.code == Fault.link {
            return true
        }
    }

    /// Opens what has the name now.
    package func open(_ path: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws -> Descriptor {
        try reaching(path) { try spot(path).open(flags, mode: mode) }
    }

    /// The regular file that had the name when it was first asked for, open for reading; the same each time.
    ///
    /// - Throws: `Fault(.superseded)` where there is none.
    package func file(_ path: BytePath) throws -> Descriptor {
        if let file = files.withLock({ $0[path] }) { return file }
        let file: Descriptor
        do {
            file = try spot(path).openFile()
        } catch let fault as Fault where Self.isMissing(fault) {
            throw Fault(.superseded, "\(path) is gone", path: path, errno: fault.errno)
        }
        return files.withLock { files in
            let first = files[path] ?? file
            files[path] = first
            return first
        }
    }

    /// The same, if it has the size that was judged: for what is about to be read to its end.
    package func judged(_ path: BytePath) throws -> Descriptor {
        let file = try file(path)
        if let source = source.withLock({ $0 }), source.path == path, let size = source.size,
            try file.status().size != size
        {
            throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
        }
        return file
    }

    /// The same, if the name still stands for it: for what is to be seen under the name.
    package func present(_ path: BytePath) throws -> Descriptor {
        let file = try file(path)
        guard try status(path)?.isSameFile(as: file.status()) == true else {
            throw Fault(.superseded, "\(path) is gone, or has become another file", path: path)
        }
        return file
    }

    // MARK: Where a place follows links that stay inside

    /// Opens what the name leads to, through such links at its end as its place follows.
    package func openFollowing(_ path: BytePath, _ flags: Int32 = O_RDONLY) throws -> Descriptor {
        let (root, relative) = try find(path)
        return try reaching(path) {
            root.links == .never ? try spot(path).open(flags) : try root.open(relative, flags)
        }
    }

    /// The name itself, or where its place follows links, the one that it leads to: what is to be replaced.
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

    /// stat(2) of what the name leads to; nil where there is none.
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

    /// The hash of what has the name now.
    package func hash(_ path: BytePath) throws -> ContentHash { try spot(path).hash() }

    /// A folder, opened now and not held: there may be very many.
    package func folder(_ path: BytePath) throws -> Folder {
        // A name below it is what finds its root.
        let (root, relative) = try find(path.appending("."))
        return try reaching(path) { try root.folder(relative.parent) }
    }

    /// The names in a folder; see ``Folder/entries()``.
    package func list(_ folder: BytePath) throws -> [ListedEntry] { try self.folder(folder).entries() }

    /// Closes the files, but holds the folders on: between two steps of a job others may have saved the file under its
    /// name, and the agent's own lease needs it closed.
    package func closeFiles() { files.withLock { $0 = [:] } }

    // MARK: Changing

    /// Makes the folders that `path` is to lie in, as far as they are missing, but never the root, nor one that the source
    /// lay in: that one has another name by now.
    ///
    /// - Throws: `Fault(.superseded)` where such a one is missing.
    package func makeFolders(for path: BytePath, mode: mode_t = 0o755) throws {
        // One that was removed meanwhile is made anew.
        if let held = folders.withLock({ $0[path.parent] }), try held.status().links > 0 { return }
        let (root, relative) = try find(path)
        if let shared = source.withLock({ $0?.path.parent.common(with: path.parent) }),
            shared.isWithin(root.folder.path),
            shared != root.folder.path
        {
            _ = try spot(shared.appending("source"))
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
            opened(source, expected), to: targets, through: spot, manner, purpose: purpose, clear: clear, record: record
        )
        let held = files.withLock { $0.removeValue(forKey: source) }
        // By rename it is the same file; what was copied is another.
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
            opened(source, expected), to: targets, through: spot, manner, clear: clear, record: record)
        forget(placed.path)
        return placed
    }

    /// See ``Mover/create(_:at:through:mode:clear:record:)``.
    package func create(
        _ bytes: [UInt8], at targets: some Sequence<BytePath>, mode: mode_t = 0o644, clear: Mover.Clear? = nil,
        record: Mover.Record
    ) throws -> Mover.Placed {
        let placed = try Mover.create(bytes, at: targets, through: spot, mode: mode, clear: clear, record: record)
        forget(placed.path)
        return placed
    }

    /// See ``Mover/removeSource(_:expecting:purpose:going:)``.
    package func removeSource(
        _ source: BytePath, expecting expected: ContentHash, purpose: String? = nil, going: () throws -> Void = {}
    ) throws {
        guard let spot = try spotIfAny(source) else { return }
        try Mover.removeSource(spot, expecting: expected, purpose: purpose, going: going)
        forget(source)
    }

    /// Unlinks a file; one that is already gone is fine.
    package func remove(_ path: BytePath) throws {
        if let spot = try spotIfAny(path) { try Durable.remove(spot) }
        forget(path)
    }

    /// See ``Durable/discard(_:record:)``.
    package func discard(_ path: BytePath, record: Durable.Record) throws {
        if let spot = try spotIfAny(path) { try Durable.discard(spot, record: record) }
        forget(path)
    }

    /// What is made, moved or replaced is opened anew when it is asked for.
    private func forget(_ paths: BytePath...) {
        files.withLock { files in for path in paths { files[path] = nil } }
    }

    /// Removes a folder that holds nothing; one that does stays.
    package func removeFolder(_ path: BytePath) throws {
        guard let spot = try spotIfAny(path) else { return }
        _ = try Durable.removeFolder(spot)
        _ = folders.withLock { $0.removeValue(forKey: path) }
    }

    package func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        defer { forget(source, target) }
        return try Durable.renameNew(spot(source), to: spot(target))
    }

    /// Writes a new file beside `target`; see ``Durable/stage(_:for:mode:record:)``.
    package func stage(
        _ bytes: some Collection<UInt8>, for target: BytePath, mode: mode_t = 0o644,
        record: Durable.Record = { _, _ in }
    ) throws -> BytePath {
        try Durable.stage(bytes, for: spot(target), mode: mode, record: record).path
    }

    package func replaceOwn(_ path: BytePath, with bytes: some Collection<UInt8>, mode: mode_t = 0o600) throws {
        defer { forget(path) }
        try Durable.replaceOwn(spot(path), with: bytes, mode: mode)
    }

    /// Puts a staged file in the place of another; see ``Durable/replace(_:with:)``.
    package func replace(_ path: BytePath, with staged: BytePath) throws {
        defer { forget(path, staged) }
        try Durable.replace(spot(path), with: spot(staged))
    }

    /// Swaps two names; see ``Durable/exchange(_:_:)``.
    package func exchange(_ one: BytePath, _ other: BytePath) throws {
        defer { forget(one, other) }
        try Durable.exchange(spot(one), spot(other))
    }

    /// Who has it open, in words; see ``Openers``.
    package func openers(_ path: BytePath) -> String {
        // For a message: what cannot be looked at has unknown openers.
        (try? spot(path)).map { Openers.describe($0) } ?? "another process"
    }

    /// The first of the names beside `path` that show that an editor has it open; see ``WorkNames/editorLock(on:)``.
    package func editorLock(on path: BytePath) throws -> BytePath? {
        guard let spot = try spotIfAny(path) else { return nil }
        return try WorkNames.editorLock(on: spot)
    }

    private func opened(_ path: BytePath, _ expected: ContentHash) throws -> Mover.Source {
        try Mover.Source(spot(path), judged(path), expecting: expected)
    }
}
