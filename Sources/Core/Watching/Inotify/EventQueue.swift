import CLinux
import Glibc
import Platform

/// One kernel event, copied out of the buffer that it was read into.
struct KernelEvent {
    let wd: Int32
    let mask: UInt32
    let cookie: UInt32
    let name: [UInt8]

    /// - Parameter bytes: the name, up to the first zero. It is wiped there: what the buffer was read into may stay for
    ///   hours, and a name may be one that is not to be found in memory later.
    init(_ head: inotify_event, takingNameFrom bytes: UnsafeMutableRawBufferPointer) {
        (wd, mask, cookie, name) = (head.wd, head.mask, head.cookie, Array(bytes.prefix { $0 != 0 }))
        for index in bytes.indices { bytes[index] = 0 }
    }

    func has(_ bits: UInt32) -> Bool { mask & bits != 0 }
}

/// The inotify bits that are used, as the type that events carry.
enum Bits {
    static let attrib = UInt32(IN_ATTRIB)
    static let closeWrite = UInt32(IN_CLOSE_WRITE)
    static let movedFrom = UInt32(IN_MOVED_FROM)
    static let movedTo = UInt32(IN_MOVED_TO)
    static let create = UInt32(IN_CREATE)
    static let delete = UInt32(IN_DELETE)
    static let deleteSelf = UInt32(IN_DELETE_SELF)
    static let moveSelf = UInt32(IN_MOVE_SELF)
    static let unmount = UInt32(IN_UNMOUNT)
    static let overflow = UInt32(IN_Q_OVERFLOW)
    static let ignored = UInt32(IN_IGNORED)
    static let isDirectory = UInt32(IN_ISDIR)
    private static let onlyDirectory = UInt32(IN_ONLYDIR)
    private static let dontFollow = UInt32(IN_DONT_FOLLOW)
    private static let excludeUnlinked = UInt32(IN_EXCL_UNLINK)

    private static let flags = onlyDirectory | dontFollow | excludeUnlinked
    /// A folder of a root; never MODIFY, which would tell of half-written files, a thousand times each.
    static let tree =
        create | movedTo | movedFrom | closeWrite | delete | deleteSelf | moveSelf | attrib | flags
    /// The folder in which a missing root, or a link on the way to one, may appear.
    static let threshold = create | movedTo | movedFrom | delete | deleteSelf | moveSelf | attrib | flags
    /// The other folders above a root: silent unless they move themselves.
    static let ancestor = deleteSelf | moveSelf | flags
}

/// What came of asking for a watch.
enum WatchAnswer {
    case watch(Int32)
    /// An errno.
    case failed(Int32)
}

/// One inotify instance of the kernel's, however it is called. Only the owner thread calls it.
protocol EventQueue: AnyObject {
    /// For poll(2); nobody else reads it.
    var descriptor: Int32 { get }
    /// Entries kept for watches that are gone, which only ``restart()`` frees.
    var staleEntries: Int { get }

    /// Watches one folder or file, or changes the mask of its watch.
    ///
    /// - Parameter known: the watch that the path's inode is known to have.
    func add(_ path: BytePath, _ mask: UInt32, known: Int32?) -> WatchAnswer

    /// Takes a watch away that the kernel still has; an IGNORED event follows.
    func remove(_ wd: Int32)

    /// The kernel dropped a watch by itself.
    func kernelDropped()

    /// The next event, without waiting; nil if there is none.
    func next() -> KernelEvent?

    /// Begins anew: all watches are gone. The caller has removed its own.
    ///
    /// - Throws: `Fault`; there are neither watches nor events then until this succeeds.
    func restart() throws

    /// Gives everything back.
    func close()
}

extension WatchOptions.Events {
    /// - Throws: `Fault` if the kernel grants no inotify instance.
    func open() throws -> any EventQueue {
        switch self {
        case .calls: try InotifyCalls()
        #if LibInotifyTools
            case .library: try InotifyLibrary()
        #endif
        }
    }
}

extension Fault {
    static func noInotify(_ code: Int32) -> Fault {
        let hint = code == EMFILE ? "; raise it with `sysctl fs.inotify.max_user_instances=512`" : ""
        // Another program may give one back.
        return Fault(
            .transient, "the kernel grants no inotify instance: \(String(cString: strerror(code)))\(hint)", errno: code)
    }
}
