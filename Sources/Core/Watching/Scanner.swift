import Glibc
import Platform

/// What a scan could not see, and how much it saw.
package struct ScanReport: Sendable {
    package var files = 0
    package var folders = 0
    /// The root itself is not there: nothing may be concluded about its files.
    package var rootMissing = false
    /// Folders that could not be read, with the reason: what lies below them is unknown, not gone.
    package var unreadable: [(path: BytePath, fault: Fault)] = []
    /// Which folder stood at the root's path; compare it with the one the files are known from.
    package var identity: RootIdentity?
    /// Names that are ignored and that a person may miss, relative; at most 100.
    package var passedOver: [BytePath] = []
    /// Folders below the root that were asked for (``RootWalk/wantsFolder``), relative.
    package var wanted: [BytePath] = []

    /// Whether the scan can tell about `path`: a name that it did not visit is gone only if this holds.
    package func covers(_ path: BytePath) -> Bool {
        !rootMissing && !unreadable.contains { path.isWithin($0.path) }
    }
}

/// A file that a walk has come upon.
package struct FoundFile {
    /// Relative to the root.
    package let folder: BytePath
    package let name: [UInt8]
    package let status: FileStatus

    /// Relative to the root.
    package var path: BytePath { folder.appending(name: name) }
}

/// The truth that events only hint at: one walk through a root.
package enum Scanner {
    /// Visits every regular file at or below `from`, in no particular order. Blocks.
    ///
    /// `visit` gets the path relative to the root. Otherwise as ``RootWalk``.
    package static func walk(
        root: WatchRoot, from: BytePath = "", ignoring: IgnoreList, visit: (BytePath, FileStatus) throws -> Void
    ) throws -> ScanReport {
        var walk = RootWalk(root: root, from: from, ignoring: ignoring)
        while try walk.visit({
            try visit($0.path, $0.status)
            return true
        }) {}
        return walk.report
    }
}

/// A walk through a root that can be left and gone on with: whoever has enough deals with that first, and neither keeps
/// all that is yet to come in memory nor has anything open meanwhile.
///
/// Links are not followed, ignored names and excluded subtrees not entered; what vanishes meanwhile is passed over.
package struct RootWalk: Sendable {
    /// Complete once ``visit(_:)`` has returned false.
    package private(set) var report = ScanReport()
    /// Which folders are to be reported besides the files.
    package var wantsFolder: (@Sendable (BytePath, FileStatus) -> Bool)?
    private let base: RealFolder?
    private let excluded: Set<BytePath>
    private let ignoring: IgnoreList
    private var start: BytePath?
    /// Folders that are yet to be read.
    private var folders = PackedPaths()
    /// Those that come before them; none between two parts.
    private var ahead: [DirectoryPrefetch.Next] = []
    /// The one that is being gone through.
    private var current: (path: BytePath, names: FolderListing)?

    /// Looks which folder stands there. Blocks.
    package init(root: WatchRoot, from: BytePath = "", ignoring: IgnoreList) {
        base = RealFolder(root.path)
        excluded = base?.excluded(of: root, in: MountPoint.all()) ?? []
        self.ignoring = ignoring
        report.identity = base?.identity
        report.rootMissing = base == nil
        let (excluded, isIgnored) = (excluded, ignoring.ignores(anyPartOf: from))
        start = base == nil || isIgnored || excluded.contains { from.isWithin($0) } ? nil : from
    }

    /// Visits regular files, in no particular order, until `body` says false or there are no more. Blocks.
    ///
    /// - Returns: whether there may be more.
    /// - Throws: what `body` throws, `CancellationError` in a cancelled task, and `Fault` where the root cannot be opened.
    package mutating func visit(_ body: (FoundFile) throws -> Bool) throws -> Bool {
        guard start != nil || current != nil || !folders.isEmpty else { return false }
        guard let top = try base?.reach() else {
            // Of what was yet to come nothing is known.
            report.rootMissing = true
            (start, current, folders) = (nil, nil, PackedPaths())
            return false
        }
        if let first = start {
            start = nil
            if try !begin(at: first, top, body) { return true }
        }
        // What was read ahead would be old when the walk is gone on with.
        defer { putBack() }
        while current != nil || !ahead.isEmpty || !folders.isEmpty {
            if Task.isCancelled { throw CancellationError() }
            if try !goOn(top, body) { return true }
        }
        return false
    }

    /// Goes on in the folder that was begun, or else begins the next.
    ///
    /// - Returns: false where `body` has enough.
    private mutating func goOn(_ top: Root, _ body: (FoundFile) throws -> Bool) throws -> Bool {
        let isNew = current == nil
        let begun = current.map { DirectoryPrefetch.Next(path: $0.path, names: $0.names) }
        current = nil
        guard let next = begun ?? takeNext(top) else { return true }
        var folder: Descriptor?
        // One that is known to have nothing but folders in it need not be opened again.
        if next.names?.hasFoldersAlone != true || isNew && wantsFolder != nil {
            guard let opened = attempt(next.path, { try Self.reading(top, $0) }) else { return true }
            folder = opened
        }
        var names = next.names
        if names == nil, let folder { names = attempt(next.path) { _ in try FolderListing(folder) } }
        guard let names else { return true }
        if isNew {
            report.folders += 1
            if let wantsFolder, let folder, !next.path.isEmpty,
                let status = attempt(next.path, { _ in try folder.status() }), wantsFolder(next.path, status)
            {
                report.wanted.append(next.path)
            }
        }
        current = (next.path, names)
        return try goThrough(folder.map(Folder.init), body)
    }

    private mutating func takeNext(_ top: Root) -> DirectoryPrefetch.Next? {
        if ahead.isEmpty {
            var paths: [BytePath] = []
            while paths.count < DirectoryPrefetch.most, let path = folders.popLast() { paths.append(path) }
            ahead = DirectoryPrefetch.read(paths) { try Self.reading(top, $0) }
        }
        return ahead.popLast()
    }

    private mutating func putBack() {
        for next in ahead { folders.append(next.path) }
        ahead = []
    }

    /// Those of the names that no regular file of the root has now. One that cannot be looked at counts as being there, and
    /// so does what lies in folders that could not be read. Blocks.
    ///
    /// - Throws: `Fault` where the root itself cannot be opened.
    package func gone(of paths: [BytePath]) throws -> [BytePath] {
        guard !paths.isEmpty, let top = try base?.reach() else { return [] }
        return paths.filter { path in
            guard report.covers(path) else { return false }
            do {
                return try top.spot(path).status()?.kind != .file
            } catch {
                return Self.passes.contains((error as? Fault)?.errno ?? 0)
            }
        }
    }

    private static func reading(_ top: Root, _ path: BytePath) throws -> Descriptor {
        path.isEmpty ? try top.folder.reading() : try top.open(path, O_RDONLY | O_DIRECTORY)
    }

    private mutating func begin(at path: BytePath, _ top: Root, _ body: (FoundFile) throws -> Bool) throws -> Bool {
        guard !path.isEmpty else {
            folders.append(path)
            return true
        }
        let found = attempt(path) { try top.spot($0).status() } ?? nil
        guard let found, found.kind == .file else {
            if found?.kind == .directory { folders.append(path) }
            return true
        }
        report.files += 1
        return try body(FoundFile(folder: path.parent, name: path.name, status: found))
    }

    /// - Returns: false where `body` has enough.
    private mutating func goThrough(_ folder: Folder?, _ body: (FoundFile) throws -> Bool) throws -> Bool {
        while let path = current?.path, let entry = current?.names.next(), let names = current?.names {
            let name = names.name(of: entry)
            if ignoring.ignores(name) {
                if entry.isDirectory != true, report.passedOver.count < 100, ignoring.isMissed(name) {
                    report.passedOver.append(path.appending(name: name))
                }
                continue
            }
            if entry.isDirectory == true {
                enter(path.appending(name: name))
                continue
            }
            let found: FileStatus?
            do {
                found = try folder.flatMap { try names.status(of: entry, in: $0) }
            } catch {
                note(error, path.appending(name: name))
                continue
            }
            switch found?.kind {
            case .directory: enter(path.appending(name: name))
            case .file:
                guard let found else { continue }
                report.files += 1
                if try !body(FoundFile(folder: path, name: name, status: found)) { return false }
            case .link, .other, nil: continue
            }
        }
        current = nil
        return true
    }

    private mutating func enter(_ folder: BytePath) {
        if !excluded.contains(folder) { folders.append(folder) }
    }

    /// What is not there, or lies behind a link, which is not part of the root even if a mark names something below it,
    /// is passed over.
    private static let passes: Set<Int32> = [ENOENT, ENOTDIR, ELOOP, EXDEV]

    private mutating func attempt<R>(_ path: BytePath, _ look: (BytePath) throws -> R) -> R? {
        do {
            return try look(path)
        } catch {
            note(error, path)
            return nil
        }
    }

    private mutating func note(_ error: any Error, _ path: BytePath) {
        let fault = error as? Fault ?? Fault(.failed, explain(error), path: path)
        if !Self.passes.contains(fault.errno ?? 0) { report.unreadable.append((path, fault)) }
    }
}

/// Paths one above the other in one piece of memory: there may be as many as a root has folders.
private struct PackedPaths: Sendable {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ path: BytePath) {
        // No path has a NUL.
        bytes.append(0)
        bytes += path.bytes
    }

    mutating func popLast() -> BytePath? {
        guard let start = bytes.lastIndex(of: 0) else { return nil }
        defer { bytes.removeSubrange(start...) }
        return BytePath(bytes: bytes[(start + 1)...])
    }
}

/// The folder that stands at a configured path, links in that path resolved: a user may name a place through a link,
/// though none is followed inside it.
struct RealFolder: Equatable {
    let path: BytePath
    let identity: RootIdentity

    /// Nil if there is no folder. Blocks.
    init?(_ configured: BytePath) {
        guard let path = configured.real, let folder = (try? FolderIdentity.open(path)) ?? nil,
            let status = try? folder.status()
        else {
            return nil
        }
        self.path = path
        identity = RootIdentity(status)
    }

    /// What lies below it is reached through this, which is not to be kept: an open folder keeps its file system from
    /// being unmounted. Nil where another folder stands there by now. Blocks.
    ///
    /// - Throws: `Fault` where that cannot be told: too many files are open, say.
    func reach() throws -> Root? {
        guard let folder = try FolderIdentity.open(path), RootIdentity(try folder.status()) == identity else {
            return nil
        }
        return Root(folder)
    }

    /// The same for who looks again soon: where it cannot be told, the root counts as missing until then.
    func reachForNow() -> Root? { (try? reach()) ?? nil }

    /// The root's excluded subtrees, relative to it. One that lies on a file system which may not answer is taken by its name.
    func excluded(of root: WatchRoot, in mounts: [MountPoint]) -> Set<BytePath> {
        var all: Set<BytePath> = []
        for outside in root.excluded {
            if let relative = outside.relative(to: root.path) ?? outside.relative(to: path) {
                all.insert(relative)
            } else if let relative = LinkedPath(outside, in: mounts).path.relative(to: path) {
                all.insert(relative)
            }
        }
        all.remove("")
        return all
    }
}
