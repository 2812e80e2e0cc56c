import Platform

/// The settler's state of a file, and how it examines one.
extension Settler {
    struct Key: Hashable, Sendable {
        let root: String
        let path: BytePath

        init(root: String, path: BytePath) { (self.root, self.path) = (root, path) }

        init(_ settled: Settled) {
            switch settled {
            case .whole(let root, let path, _, _), .gone(let root, let path): self.init(root: root, path: path)
            }
        }
    }

    struct Entry {
        var top: BytePath
        /// When it was first reported.
        let since: Int64
        /// When it was last reported.
        var named: Int64
        var settle: Double
        var alreadyStill: Bool
        /// As with ``Settled/whole(root:path:status:isBacklog:)``.
        var isBacklog: Bool
        var seen: Fingerprint?
        /// Since when it has been unchanged.
        var quietSince: Int64 = 0
        var goneSince: Int64?
        var busyFor: Double = 0
        var waitingFor: Unsettled.Reason = .quiet
        /// Changes each time the file is reported, so that a result in flight is not taken for the answer to a newer
        /// question.
        var turn = 0

        /// Whether it waits for another process, possibly forever.
        var waitsForOthers: Bool { waitingFor != .quiet && waitingFor != .absent }
    }

    /// The result of a look on the pool.
    enum Finding: Sendable {
        case saw(FileProbe.Seen, replacing: Bool)
        case whole(FileStatus)
        case busy(FileStatus)
        case downloading(FileStatus)
        case changed
    }

    /// Runs on a thread of the pool.
    static func look(_ path: BytePath, _ entry: Entry, _ roots: OpenRoots) -> Finding {
        let files = roots.files(below: entry.top)
        let file = entry.top.appending(path)
        let seen = FileProbe.look(file, files)
        guard case .file(let status) = seen else {
            return .saw(seen, replacing: entry.goneSince != nil && FileProbe.isBeingReplaced(file, files))
        }
        let quiet = WatchLoop.now() - entry.quietSince >= WatchLoop.nanoseconds(entry.settle)
        let still =
            entry.seen == status.fingerprint ? quiet : entry.seen == nil && entry.alreadyStill && isOld(status, entry)
        guard still else { return .saw(seen, replacing: false) }
        if roots.isBeingDownloaded(file, status, files) { return .downloading(status) }
        switch FileProbe.writers(file, status.fingerprint, files) {
        case .none: return .whole(status)
        case .busy: return .busy(status)
        case .changed: return .changed
        }
    }

    /// Since when a file seen for the first time has been still: since it was reported, if its times show no later
    /// change; otherwise since the change they show.
    ///
    /// File times come from the machine that has the disk. If its clock is ahead, they are not believed; if it is
    /// behind, they prove no more than the report itself.
    ///
    /// - Parameters:
    ///   - named: when it was last reported, on the clock of ``WatchLoop/now()``, like `now` and the result.
    ///   - time: the same moment as `now`, in nanoseconds since 1970.
    static func stillSince(
        _ seen: Fingerprint, named: Int64, now: Int64, time: Int64 = Timestamp.now().nanoseconds
    ) -> Int64 {
        min(now, max(named, now - age(seen, time)))
    }

    /// Nanoseconds since its last change, judged by its own times.
    private static func age(_ seen: Fingerprint, _ time: Int64) -> Int64 {
        // Times before 1970 are clamped: no file system that can be watched is that old.
        max(0, time - max(0, seen.modified, seen.changed))
    }

    private static func isOld(_ status: FileStatus, _ entry: Entry) -> Bool {
        age(status.fingerprint, Timestamp.now().nanoseconds) >= WatchLoop.nanoseconds(entry.settle)
    }
}
