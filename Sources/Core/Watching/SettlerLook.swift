import Platform

/// What the settler knows of a file, and how it looks at one.
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
        /// When it was first named.
        let since: Int64
        /// When it was last named.
        var named: Int64
        var settle: Double
        var alreadyStill: Bool
        /// As with ``Settled/whole(root:path:status:isBacklog:)``.
        var isBacklog: Bool
        var seen: Fingerprint?
        /// Since when it has been seen unchanged.
        var quietSince: Int64 = 0
        var goneSince: Int64?
        var busyFor: Double = 0
        var waitingFor: Unsettled.Reason = .quiet
        /// Another each time that the file is named, so that an answer on its way is not taken for the newer question.
        var turn = 0

        /// Whether it waits for somebody, who may take for ever.
        var waitsForOthers: Bool { waitingFor != .quiet && waitingFor != .absent }
    }

    /// What a look on a lane found.
    enum Finding: Sendable {
        case saw(FileProbe.Seen, replacing: Bool)
        case whole(FileStatus)
        case busy(FileStatus)
        case downloading(FileStatus)
        case changed
    }

    /// Runs on a lane.
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

    /// Since when a file stands still that is seen as it is for the first time: since it was named, if its times say that
    /// nothing has changed since; else since the change that they tell of.
    ///
    /// Its times are those of the machine that has the disk: a clock there that is ahead is not believed, and one that is
    /// behind says no more than that it was named.
    ///
    /// - Parameters:
    ///   - named: when it was last named, by the clock of ``WatchLoop/now()``, as `now` and the result.
    ///   - time: the same moment as `now`, in nanoseconds since 1970.
    static func stillSince(
        _ seen: Fingerprint, named: Int64, now: Int64, time: Int64 = Timestamp.now().nanoseconds
    ) -> Int64 {
        min(now, max(named, now - age(seen, time)))
    }

    /// Nanoseconds since its last change, by its own times.
    private static func age(_ seen: Fingerprint, _ time: Int64) -> Int64 {
        // No file system that can be watched is older than the count of the years.
        max(0, time - max(0, seen.modified, seen.changed))
    }

    private static func isOld(_ status: FileStatus, _ entry: Entry) -> Bool {
        age(status.fingerprint, Timestamp.now().nanoseconds) >= WatchLoop.nanoseconds(entry.settle)
    }
}
