import Platform

/// A folder to watch, with everything below it.
package struct WatchRoot: Sendable, Hashable {
    package enum Mode: String, Sendable, Hashable, Codable {
        /// Kernel events if the file system sends them, otherwise polling.
        case automatic
        /// Polling on any file system.
        case poll
    }

    /// Unique among the roots; part of every mark.
    package var name: String
    /// Absolute. The folder may be missing; the watcher notices when it appears.
    package var path: BytePath
    /// Absolute subtrees that belong to other places; neither watched nor scanned as part of this one.
    package var excluded: [BytePath]
    package var mode: Mode
    /// Seconds between two polls of folders without events: network file systems, and folders beyond the watch limit.
    package var pollInterval: Double

    package init(
        name: String, path: BytePath, excluded: [BytePath] = [], mode: Mode = .automatic, pollInterval: Double = 30
    ) {
        self.name = name
        self.path = path
        self.excluded = excluded
        self.mode = mode
        self.pollInterval = max(0.01, pollInterval)
    }
}

/// "Look here": a hint, never a statement of what happened (docs/design/events.md).
///
/// Paths are relative to the root; the empty path is the root itself.
package enum DirtyMark: Sendable, Hashable {
    /// This one name may have been created, changed, closed after writing, moved or removed.
    case file(root: String, path: BytePath)
    /// Anything at or below this path may differ from the known state, removed names included.
    case subtree(root: String, path: BytePath)
    /// The kernel paired both halves of a rename. Marks of both names follow, as subtrees for a folder.
    case renamed(root: String, from: BytePath, toRoot: String, to: BytePath)
    /// The kernel says that it was moved here from outside the root, so it has had no other name in the root, even if
    /// its inode suggests one. The mark of the name itself follows.
    case movedIn(root: String, path: BytePath, isFolder: Bool)
    /// The root vanished, came back, was replaced or mounted over, or its mode changed: ask ``EventSource/status()``
    /// before believing any deletion. Comes before all other marks of a batch.
    case rootState(root: String)
}

/// Identifies the folder at a root's path.
package struct RootIdentity: Sendable, Hashable, Codable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}

/// How a root is being watched at the moment.
package struct RootStatus: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        case inotify
        /// Why there are no kernel events, as text for a person.
        case poll(reason: String)
    }

    package var name: String
    package var path: BytePath
    package var present: Bool
    /// nil while the root is missing. A different value means a different folder: an unmounted disk, an overmount, or a
    /// folder that was moved away and re-created.
    package var identity: RootIdentity?
    package var mode: Mode
    /// Folders of this root that have a kernel watch.
    package var watches: Int
    /// Folders that are polled because the watch limit is reached or their file system sends no events.
    package var polledFolders: Int
    /// Unreadable folders, relative; at most 100.
    package var unreadable: [BytePath]
    /// Mount points below the root, relative. When one is unmounted, its files are unavailable, not deleted.
    package var mountsInside: [BytePath]
}

/// A file with an ignored name that a person may miss.
package struct PassedOver: Sendable, Equatable {
    package var root: String
    package var path: BytePath
    /// False once it was removed or renamed.
    package var isThere: Bool
}

/// The state of watching as a whole.
package struct WatchStatus: Sendable, Equatable {
    package var roots: [RootStatus] = []
    /// Kernel watches in use, of all kinds.
    package var watches = 0
    /// Events received from the kernel.
    package var events = 0
    /// How often the kernel's queue overflowed.
    package var overflows = 0
    /// Full rescans, for any reason.
    package var rescans = 0
    /// Why the kernel sends no events at all; everything is polled then.
    package var blindness: String?
    /// Whether folders are being polled because the kernel grants no more watches.
    package var watchLimitHit = false
    /// Library entries of watches that the kernel has dropped; bounded, see ``WatchOptions/staleLimit``.
    package var staleEntries = 0
    /// How often inotify was restarted: after a loss of events, or to free such entries.
    package var restarts = 0
    /// How often the owner thread woke up.
    package var wakeUps = 0
    /// Written or removed files with ignored names, newest last; at most 200.
    package var passedOver: [PassedOver] = []
    /// The last message for a person, including what to do about it.
    package var lastMessage: String?

    package init() {}

    package func root(_ name: String) -> RootStatus? { roots.first { $0.name == name } }
}

/// Settings of the watcher; the defaults work.
package struct WatchOptions: Sendable {
    package var ignore: IgnoreList
    /// Seconds between two full rescans; the only timer while nothing is pending.
    package var rescanInterval: Double = 3600
    /// Seconds a rename waits for its second half.
    package var renameWait: Double = 1
    /// Seconds between two rescans forced by overflow or doubt; doubles up to a minute while they continue.
    package var rescanBackoff: Double = 1
    /// Most watches to use; nil means the kernel's limit.
    package var maximumWatches: Int?
    /// libinotifytools cannot forget a watch that the kernel dropped (of a removed folder). At this many, or as many as
    /// there are live watches, it is restarted and a rescan follows.
    package var staleLimit: Int = 5_000
    /// Called with every message for people, on the owner thread: must not block.
    package var onMessage: (@Sendable (String) -> Void)?

    /// How kernel events are read.
    package enum Events: Sendable, CaseIterable {
        /// inotify's system calls.
        case calls
        #if LibInotifyTools
            /// libinotifytools.
            case library
        #endif

        package static var standard: Events {
            #if LibInotifyTools
                .library
            #else
                .calls
            #endif
        }
    }
    package var events: Events = .standard

    package init(ignore: IgnoreList = IgnoreList()) { self.ignore = ignore }
}
