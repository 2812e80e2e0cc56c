import Glibc
import Platform

/// What a scan could not see, and how much it saw.
package struct ScanReport: Sendable {
    package var files = 0
    package var folders = 0
    /// The root itself is missing: conclude nothing about its files.
    package var rootMissing = false
    /// Folders that could not be read, and why: their contents are unknown, not gone.
    package var unreadable: [(path: BytePath, fault: Fault)] = []
    /// The folder found at the root's path; compare it with the one the known files came from.
    package var identity: RootIdentity?
    /// Ignored names that a person may miss, relative; at most 100.
    package var passedOver: [BytePath] = []
    /// Folders below the root selected by ``RootWalk/wantsFolder``, relative.
    package var wanted: [BytePath] = []

    /// Whether the scan covered `path`. Only then does a name it did not visit count as gone.
    package func covers(_ path: BytePath) -> Bool {
        !rootMissing && !unreadable.contains { path.isWithin($0.path) }
    }
}

/// A file that a walk has found.
package struct FoundFile {
    /// Relative to the root.
    package let folder: BytePath
    package let name: [UInt8]
    package let status: FileStatus

    /// Relative to the root.
    package var path: BytePath { folder.appending(name: name) }
}

/// The truth behind the events' hints: one walk through a root.
package enum Scanner {
    /// Visits every regular file at or below `from`, in no particular order. Blocks.
    ///
    /// `visit` gets the path relative to the root. See also ``RootWalk``.
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

/// A walk through a root that can be paused and resumed. A caller can process one part before asking for the next; in
/// between, the walk holds nothing open, and it never keeps all remaining files in memory.
///
/// Does not follow links or enter ignored names and excluded subtrees; skips entries that vanish during the walk.
package struct RootWalk: Sendable {
    /// Complete once ``visit(_:)`` has returned false.
    package private(set) var report = ScanReport()
    /// Which folders to report along with the files.
    package var wantsFolder: (@Sendable (BytePath, FileStatus) -> Bool)?
    private let base: RealFolder?
    private let excluded: Set<BytePath>
    private let ignoring: IgnoreList
    private var start: BytePath?
    /// Folders still to be read.
    private var folders = PackedPaths()
    /// Prefetched folders, which come first; empty between two parts of the walk.
    private var ahead: [DirectoryPrefetch.Next] = []
    /// The folder being visited.
    private var current: (path: BytePath, names: FolderListing)?

    /// Looks up the folder at the root's path. Blocks.
    package init(root: WatchRoot, from: BytePath = "", ignoring: IgnoreList) {
        base = RealFolder(root.path)
        excluded = base?.excluded(of: root, in: Mount.all()) ?? []
        self.ignoring = ignoring
        report.identity = base?.identity
        report.rootMissing = base == nil
        let (excluded, isIgnored) = (excluded, ignoring.ignores(anyPartOf: from))
        start = base == nil || isIgnored || excluded.contains { from.isWithin($0) } ? nil : from
    }

    /// Visits regular files, in no particular order, until `body` returns false or none are left. Blocks.
    ///
    /// - Returns: whether there may be more.
    /// - Throws: any error of `body`, `CancellationError` in a cancelled task, and `Fault` if the root cannot be
    ///   opened.
    package mutating func visit(_ body: (FoundFile) throws -> Bool) throws -> Bool {
        guard start != nil || current != nil || !folders.isEmpty else { return false }
        guard let top = try base?.reach() else {
            // Nothing is known about the rest.
            report.rootMissing = true
            (start, current, folders) = (nil, nil, PackedPaths())
            return false
        }
        if let first = start {
            start = nil
            if try !begin(at: first, top, body) { return true }
        }
        // Prefetched names would be stale by the time the walk resumes.
        defer { putBack() }
        while current != nil || !ahead.isEmpty || !folders.isEmpty {
            if Task.isCancelled { throw CancellationError() }
            if try !goOn(top, body) { return true }
        }
        return false
    }

    /// Continues in the current folder, or starts the next one.
    ///
    /// - Returns: false if `body` wants to pause.
    private mutating func goOn(_ top: Root, _ body: (FoundFile) throws -> Bool) throws -> Bool {
        let isNew = current == nil
        let begun = current.map { DirectoryPrefetch.Next(path: $0.path, names: $0.names) }
        current = nil
        guard let next = begun ?? takeNext(top) else { return true }
        var folder: Descriptor?
        // A folder known to contain only folders need not be opened again.
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

    /// The `paths` that no longer name a regular file in the root. A file whose status cannot be read counts as
    /// present, and so does anything in a folder that could not be read. Blocks.
    ///
    /// - Throws: `Fault` if the root itself cannot be opened.
    package func gone(of paths: [BytePath]) throws -> [BytePath] {
        guard !paths.isEmpty, let top = try base?.reach() else { return [] }
        return paths.filter { path in
            guard report.covers(path) else { return false }
            do {
                return try top.entry(path).status()?.kind != .file
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
        let found = attempt(path) { try top.entry($0).status() } ?? nil
        guard let found, found.kind == .file else {
            if found?.kind == .directory { folders.append(path) }
            return true
        }
        report.files += 1
        return try body(FoundFile(folder: path.parent, name: path.name, status: found))
    }

    /// - Returns: false if `body` wants to pause.
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

    /// Skipped: missing files, and files behind a link, which are not part of the root even if a mark names them.
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

/// A stack of paths packed into one buffer: there may be as many as the root has folders.
private struct PackedPaths: Sendable {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ path: BytePath) {
        // A path never contains NUL.
        bytes.append(0)
        bytes += path.bytes
    }

    mutating func popLast() -> BytePath? {
        guard let start = bytes.lastIndex(of: 0) else { return nil }
        defer { bytes.removeSubrange(start...) }
        return BytePath(bytes: bytes[(start + 1)...])
    }
}

/// The folder at a configured path, with the links in that path resolved. A user may name a place through a link,
/// though links inside it are not followed.
struct RealFolder: Equatable {
    let path: BytePath
    let identity: RootIdentity

    /// nil if there is no folder. Blocks.
    init?(_ configured: BytePath) {
        guard let path = configured.real, let folder = (try? FolderIdentity.open(path)) ?? nil,
            let status = try? folder.status()
        else {
            return nil
        }
        self.path = path
        identity = RootIdentity(status)
    }

    /// Opens the folder, for access to the files below it. Do not keep the result: an open folder prevents its file
    /// system from being unmounted. nil if another folder has taken its path. Blocks.
    ///
    /// - Throws: `Fault` if that cannot be determined, for example if too many files are open.
    func reach() throws -> Root? {
        guard let folder = try FolderIdentity.open(path), RootIdentity(try folder.status()) == identity else {
            return nil
        }
        return Root(folder)
    }

    /// The same for a caller that retries soon: on an error, the root counts as missing until then.
    func reachForNow() -> Root? { (try? reach()) ?? nil }

    /// The root's excluded subtrees, relative to it. Those on a file system that may not answer are taken literally.
    func excluded(of root: WatchRoot, in mounts: [Mount]) -> Set<BytePath> {
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
