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
        guard let base = RealFolder(root.path), let top = base.reach() else {
            report.rootMissing = true
            return report
        }
        report.identity = base.identity
        let excluded = base.excluded(of: root)
        if ignoring.ignores(anyPartOf: from) || excluded.contains(where: { from.isWithin($0) }) { return report }
        if !from.isEmpty {
            guard let first = status(of: from, below: top, &report) else { return report }
            if first.kind == .file {
                report.files += 1
                try visit(from, first)
            }
            guard first.kind == .directory else { return report }
        }
        var open = [from]
        while let path = open.popLast() {
            if Task.isCancelled { throw CancellationError() }
            guard let (folder, entries) = list(path, below: top, &report) else { continue }
            report.folders += 1
            for entry in entries {
                let path = path.appending(name: entry.name)
                if ignoring.ignores(entry.name) {
                    if entry.isDirectory != true, report.passedOver.count < 100, ignoring.isMissed(entry.name) {
                        report.passedOver.append(path)
                    }
                    continue
                }
                if entry.isDirectory == true {
                    if !excluded.contains(path) { open.append(path) }
                    continue
                }
                guard let found = status(of: folder[entry.name], path, &report) else { continue }
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

    /// What is not there, or lies behind a link, which is not part of the root even if a mark names something below it,
    /// is passed over.
    private static let passes: Set<Int32> = [ENOENT, ENOTDIR, ELOOP, EXDEV]

    private static func status(of path: BytePath, below root: Root, _ report: inout ScanReport) -> FileStatus? {
        do {
            return try root.spot(path).status()
        } catch let fault as Fault {
            if !passes.contains(fault.errno ?? 0) { report.unreadable.append((path, fault)) }
        } catch {
            report.unreadable.append((path, Fault(.failed, explain(error), path: path)))
        }
        return nil
    }

    private static func list(
        _ path: BytePath, below root: Root, _ report: inout ScanReport
    ) -> (Folder, [DirectoryEntry])? {
        do {
            let folder = try root.folder(path)
            return (folder, try folder.entries())
        } catch let fault as Fault {
            if !passes.contains(fault.errno ?? 0) { report.unreadable.append((path, fault)) }
        } catch {
            report.unreadable.append((path, Fault(.failed, explain(error), path: path)))
        }
        return nil
    }

    private static func status(of spot: Spot, _ path: BytePath, _ report: inout ScanReport) -> FileStatus? {
        do {
            return try spot.status()
        } catch {
            report.unreadable.append((path, error as? Fault ?? Fault(.failed, explain(error), path: path)))
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
    func reach() -> Root? {
        guard let folder = (try? FolderIdentity.open(path)) ?? nil, let status = try? folder.status(),
            RootIdentity(status) == identity
        else { return nil }
        return Root(folder)
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
