import Platform

/// What the settler knows of a file, and how it looks at one.
extension Settler {
    struct Key: Hashable, Sendable {
        let root: String
        let path: BytePath

        init(root: String, path: BytePath) { (self.root, self.path) = (root, path) }

        init(_ settled: Settled) {
            switch settled {
            case .whole(let root, let path, _), .gone(let root, let path): self.init(root: root, path: path)
            }
        }
    }

    struct Entry {
        var top: BytePath
        /// When it was first named.
        let since: Int64
        var settle: Double
        var alreadyStill: Bool
        var seen: Fingerprint?
        /// Since when it has been seen unchanged.
        var quietSince: Int64 = 0
        var goneSince: Int64?
        var busyFor: Double = 0
        var waitingFor: Unsettled.Reason = .quiet
        /// Goes up when the file is named again, so that an answer on its way is not taken for the newer question.
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

    private static func isOld(_ status: FileStatus, _ entry: Entry) -> Bool {
        let newest = max(status.fingerprint.modified, status.fingerprint.changed)
        return Timestamp.now().nanoseconds - newest >= WatchLoop.nanoseconds(entry.settle)
    }
}
