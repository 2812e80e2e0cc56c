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

    /// Whether the scan can tell about `path`: a name that it did not visit is gone only if this holds.
    package func covers(_ path: BytePath) -> Bool {
        !rootMissing && !unreadable.contains { path.isWithin($0.path) }
    }
}

/// The truth that events only hint at: one walk through a root.
package enum Scanner {
    /// Visits every regular file at or below `from`, in no particular order. Blocks.
    ///
    /// Links are not followed, ignored names and excluded subtrees not entered; what vanishes meanwhile is passed over.
    /// `visit` gets the path relative to the root.
    ///
    /// - Throws: only what `visit` throws, and `CancellationError` in a cancelled task.
    package static func walk(
        root: WatchRoot, from: BytePath = "", ignoring: IgnoreList, visit: (BytePath, FileStatus) throws -> Void
    ) throws -> ScanReport {
        var report = ScanReport()
        guard let base = RealFolder(root.path) else {
            report.rootMissing = true
            return report
        }
        report.identity = base.identity
        let excluded = base.excluded(of: root)
        if ignoring.ignores(anyPartOf: from) || excluded.contains(where: { from.isWithin($0) }) { return report }
        if throughLink(from, below: base.path) { return report }
        if !from.isEmpty {
            guard let top = try status(of: from, below: base.path, &report) else { return report }
            if top.kind == .file {
                report.files += 1
                try visit(from, top)
            }
            guard top.kind == .directory else { return report }
        }
        var open = [from]
        while let folder = open.popLast() {
            if Task.isCancelled { throw CancellationError() }
            let entries: [DirectoryEntry]
            do {
                entries = try listDirectory(base.path.appending(folder))
            } catch let fault as Fault {
                if fault.errno != ENOENT && fault.errno != ENOTDIR && fault.errno != ELOOP {
                    report.unreadable.append((folder, fault))
                }
                continue
            }
            report.folders += 1
            for entry in entries where !ignoring.ignores(entry.name) {
                let path = folder.appending(name: entry.name)
                if entry.isDirectory == true {
                    if !excluded.contains(path) { open.append(path) }
                    continue
                }
                guard let found = try status(of: path, below: base.path, &report) else { continue }
                switch found.kind {
                case .directory: if !excluded.contains(path) { open.append(path) }
                case .file:
                    report.files += 1
                    try visit(path, found)
                case .link, .other: continue
                }
            }
        }
        return report
    }

    /// A folder that a link stands in for is not part of the root, even if a mark names something below it.
    private static func throughLink(_ path: BytePath, below base: BytePath) -> Bool {
        var folder = path.parent
        while !folder.isEmpty {
            var found = stat()
            if base.appending(folder).withCString({ lstat($0, &found) }) == 0, found.st_mode & S_IFMT == S_IFLNK {
                return true
            }
            folder = folder.parent
        }
        return false
    }

    private static func status(
        of path: BytePath, below base: BytePath, _ report: inout ScanReport
    ) throws -> FileStatus? {
        do {
            return try FileStatus.of(base.appending(path))
        } catch let fault as Fault {
            report.unreadable.append((path, fault))
            return nil
        }
    }
}

/// The folder that stands at a configured path, links in that path resolved: a user may name a place through a link,
/// though none is followed inside it.
struct RealFolder: Equatable {
    let path: BytePath
    let identity: RootIdentity

    /// Nil if there is no folder. Blocks.
    init?(_ configured: BytePath) {
        guard let resolved = configured.withCString({ realpath($0, nil) }) else { return nil }
        defer { free(resolved) }
        let length = strlen(resolved)
        path = BytePath(bytes: UnsafeRawBufferPointer(start: resolved, count: length))
        var found = stat()
        guard path.withCString({ lstat($0, &found) }) == 0, found.st_mode & S_IFMT == S_IFDIR else { return nil }
        identity = RootIdentity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino))
    }

    /// The root's excluded subtrees, relative to it.
    func excluded(of root: WatchRoot) -> Set<BytePath> {
        var all: Set<BytePath> = []
        for outside in root.excluded {
            if let relative = outside.relative(to: root.path) ?? outside.relative(to: path) {
                all.insert(relative)
            } else if let real = RealFolder(outside), let relative = real.path.relative(to: path) {
                all.insert(relative)
            }
        }
        all.remove("")
        return all
    }
}
