import CLinux
import Glibc
import Platform

/// One kernel event, copied out of the read buffer.
struct KernelEvent {
    let wd: Int32
    let mask: UInt32
    let cookie: UInt32
    let name: [UInt8]

    /// - Parameter bytes: the name, up to the first NUL. It is wiped from the buffer, which may stay allocated for
    ///   hours: some names must not be found in memory later.
    init(_ head: inotify_event, takingNameFrom bytes: UnsafeMutableRawBufferPointer) {
        (wd, mask, cookie, name) = (head.wd, head.mask, head.cookie, Array(bytes.prefix { $0 != 0 }))
        for index in bytes.indices { bytes[index] = 0 }
    }

    func has(_ bits: UInt32) -> Bool { mask & bits != 0 }
}

/// The inotify bits in use, in the type that events carry.
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
    /// For a folder of a root. Never MODIFY, which would report half-written files, a thousand times each.
    static let tree =
        create | movedTo | movedFrom | closeWrite | delete | deleteSelf | moveSelf | attrib | flags
    /// For the folder in which a missing root, or a link on the way to it, may appear.
    static let threshold = create | movedTo | movedFrom | delete | deleteSelf | moveSelf | attrib | flags
    /// For the other folders above a root: silent unless they themselves move.
    static let ancestor = deleteSelf | moveSelf | flags
}

/// The result of adding a watch.
enum WatchAnswer {
    case watch(Int32)
    /// An errno.
    case failed(Int32)
}

/// One inotify instance, whichever way it is called. Used only by the owner thread.
protocol EventQueue: AnyObject {
    /// For poll(2) only; read by nothing else.
    var descriptor: Int32 { get }
    /// Entries of watches that are gone; only ``restart()`` frees them.
    var staleEntries: Int { get }

    /// Watches a file or folder, or changes the mask of its watch.
    ///
    /// - Parameter known: the watch already known for the path's inode.
    func add(_ path: BytePath, _ mask: UInt32, known: Int32?) -> WatchAnswer

    /// Removes a watch that the kernel still has; an IGNORED event follows.
    func remove(_ wd: Int32)

    /// Notes that the kernel dropped a watch.
    func kernelDropped()

    /// The next event, without waiting; nil if there is none.
    func next() -> KernelEvent?

    /// Restarts with no watches. The caller has removed its own beforehand.
    ///
    /// - Throws: `Fault`; there are no watches or events until a restart succeeds.
    func restart() throws

    /// Releases all resources.
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
        // Another program may free one.
        return Fault(
            .transient, "the kernel grants no inotify instance: \(String(cString: strerror(code)))\(hint)", errno: code)
    }
}
