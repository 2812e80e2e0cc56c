import Platform

/// A folder to watch, with everything below it.
package struct WatchRoot: Sendable, Hashable {
    package enum Mode: String, Sendable, Hashable, Codable {
        /// Kernel events where the file system sends them, else polling.
        case automatic
        /// Polling, whatever the file system.
        case poll
    }

    /// Unique among the roots; it stands in every mark.
    package var name: String
    /// Absolute. The folder may be missing; it is noticed when it appears.
    package var path: BytePath
    /// Absolute subtrees that belong to other places: neither watched nor scanned as part of this one.
    package var excluded: [BytePath]
    package var mode: Mode
    /// Seconds between two looks at what sends no events: network file systems, and folders beyond the watch limit.
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
    /// Something may have happened to this one name: made, changed, closed after writing, moved, removed.
    case file(root: String, path: BytePath)
    /// Anything at or below this path may differ from what is known, names that are gone included.
    case subtree(root: String, path: BytePath)
    /// The kernel paired both halves of a rename. Marks of both names follow: a folder's as subtrees.
    case renamed(root: String, from: BytePath, toRoot: String, to: BytePath)
    /// The kernel says that it was moved to this name from outside the root: it has had no other name in it, whatever its
    /// inode may tell. The mark of the name itself follows.
    case movedIn(root: String, path: BytePath, isFolder: Bool)
    /// The root vanished, came back, was replaced or mounted over, or its mode changed: ask
    /// ``EventSource/status()`` before believing that anything was deleted. Comes before all other marks of a batch.
    case rootState(root: String)
}

/// Which folder stands at a root's path.
package struct RootIdentity: Sendable, Hashable, Codable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}

/// How one root is being watched just now.
package struct RootStatus: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        case inotify
        /// Why there are no kernel events, for a person.
        case poll(reason: String)
    }

    package var name: String
    package var path: BytePath
    package var present: Bool
    /// Nil while the root is missing. Another value than before means another folder: an unmounted disk, an overmount,
    /// a folder that was moved away and made anew.
    package var identity: RootIdentity?
    package var mode: Mode
    /// Folders of this root that have a kernel watch.
    package var watches: Int
    /// Folders that are polled, because the watch limit is reached or their file system sends no events.
    package var polledFolders: Int
    /// Folders that may not be read, relative; at most 100 are named.
    package var unreadable: [BytePath]
    /// Mount points below the root, relative: when one goes, its files are away, not deleted.
    package var mountsInside: [BytePath]
}

/// A file whose name is ignored, and which a person may miss.
package struct PassedOver: Sendable, Equatable {
    package var root: String
    package var path: BytePath
    /// False once it was removed, or got another name.
    package var isThere: Bool
}

/// How watching as a whole is doing.
package struct WatchStatus: Sendable, Equatable {
    package var roots: [RootStatus] = []
    /// Kernel watches in use, all kinds.
    package var watches = 0
    /// Events that the kernel has sent.
    package var events = 0
    /// How often the kernel's queue overflowed.
    package var overflows = 0
    /// Full rescans, for whatever reason.
    package var rescans = 0
    /// Why the kernel sends no events at all, so that everything is polled.
    package var blindness: String?
    /// Whether folders are polled at this moment because the kernel grants no more watches.
    package var watchLimitHit = false
    /// Entries that the library keeps for watches the kernel has dropped; bounded, see ``WatchOptions/staleLimit``.
    package var staleEntries = 0
    /// How often the library was started anew to free such entries.
    package var restarts = 0
    /// How often the owner thread woke up.
    package var wakeUps = 0
    /// Files of ignored names that were written or removed, the newest last; at most 200.
    package var passedOver: [PassedOver] = []
    /// The last thing that a person should know, with what to do about it.
    package var lastMessage: String?

    package init() {}

    package func root(_ name: String) -> RootStatus? { roots.first { $0.name == name } }
}

/// What can be set about watching, all with working defaults.
package struct WatchOptions: Sendable {
    package var ignore: IgnoreList
    /// Seconds between two full rescans: the only timer while nothing is pending.
    package var rescanInterval: Double = 3600
    /// Seconds a rename waits for its other half.
    package var renameWait: Double = 1
    /// Seconds between two rescans that were forced by overflow or doubt; doubles up to a minute while they go on.
    package var rescanBackoff: Double = 1
    /// Watches to use at most; nil leaves it to the kernel's limit.
    package var maximumWatches: Int?
    /// libinotifytools cannot forget a watch that the kernel dropped by itself (a removed folder); after so many, or as
    /// many as there are watches, it is started anew, followed by a rescan.
    package var staleLimit: Int = 5_000
    /// Told every message for people, on the owner thread: it must not block.
    package var onMessage: (@Sendable (String) -> Void)?

    /// By what the kernel's events come.
    package enum Events: Sendable, CaseIterable {
        /// inotify's own system calls.
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
