import CInotifyTools
import Glibc
import Platform
import Synchronization

/// One kernel event, copied out of the library's buffer.
struct KernelEvent {
    let wd: Int32
    let mask: UInt32
    let cookie: UInt32
    let name: [UInt8]

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

/// libinotifytools behind a door that shuts out its traps. Its state is global and tied to no lock: there is one value
/// at a time, and only the owner thread calls it.
///
/// Two of the traps need a word:
/// - It finds a watch's descriptor by the watch's file name and keeps the first one for ever once the kernel drops a
///   watch by itself. So every watch is given a spelling of its path that was never used before.
/// - It cannot forget such a watch. They are counted, and ``restart()`` frees them.
final class InotifyLibrary {
    private static let taken = Mutex(false)

    /// For poll(2); the library reads it.
    private(set) var descriptor: Int32 = -1
    private(set) var staleEntries = 0
    private var isOurs = true
    private var spellings: UInt32 = 0
    /// Holds a low number for the descriptor of the next ``restart()``: the library uses select(2), which ends the
    /// process at 1024.
    private var placeholder: Int32 = -1

    /// - Throws: `Fault` if it is in use already, the kernel grants no inotify instance, or 1024 files are open.
    init() throws {
        let free = Self.taken.withLock { taken in
            defer { taken = true }
            return !taken
        }
        guard free else { throw Fault(.fatal, "folders are already being watched in this process; stop that first") }
        do {
            try open()
        } catch {
            Self.taken.withLock { $0 = false }
            throw error
        }
    }

    /// Gives everything back. Drains first: the library would hand out events of this life in the next one.
    func close() {
        guard isOurs else { return }
        isOurs = false
        if descriptor >= 0 {
            while next() != nil {}
            inotifytools_cleanup()
        }
        descriptor = -1
        if placeholder >= 0 { Glibc.close(placeholder) }
        placeholder = -1
        Self.taken.withLock { $0 = false }
    }

    /// Starts the library anew: all watches are gone, and with them what it had kept of dropped ones. The caller has
    /// removed its watches, so that the drain ends.
    ///
    /// - Throws: `Fault`; there are neither watches nor events then until this succeeds.
    func restart() throws {
        if descriptor >= 0 {
            while next() != nil {}
            inotifytools_cleanup()
        }
        descriptor = -1
        staleEntries = 0
        if placeholder >= 0 { Glibc.close(placeholder) }
        placeholder = -1
        try open()
    }

    private func open() throws {
        for _ in 0..<3 {
            let before = try Self.inotifyDescriptors()
            guard inotifytools_initialize() != 0 else {
                let code = inotifytools_error()
                let hint = code == EMFILE ? "; raise it with `sysctl fs.inotify.max_user_instances=512`" : ""
                throw Fault(
                    .fatal, "the kernel grants no inotify instance: \(String(cString: strerror(code)))\(hint)",
                    errno: code)
            }
            let fresh = try Self.inotifyDescriptors().subtracting(before)
            // Another thread may have made one of its own at this moment: try again then.
            if fresh.count == 1, let found = fresh.first, found < 1024 {
                descriptor = found
                _ = fcntl(found, F_SETFD, FD_CLOEXEC)
                placeholder = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
                return
            }
            inotifytools_cleanup()
        }
        throw Fault(
            .fatal, "too many files are open to watch folders: the inotify descriptor must be below 1024", errno: EMFILE
        )
    }

    private static func inotifyDescriptors() throws -> Set<Int32> {
        var found: Set<Int32> = []
        for entry in try Glance.entries("/proc/self/fd") {
            guard let number = Int32(String(decoding: entry.name, as: UTF8.self)) else { continue }
            var target = [CChar](repeating: 0, count: 64)
            let length = readlink("/proc/self/fd/\(number)", &target, target.count)
            if length > 0, target.prefix(length).elementsEqual("anon_inode:inotify".utf8.map { CChar(bitPattern: $0) })
            {
                found.insert(number)
            }
        }
        return found
    }

    enum Added {
        case watch(Int32)
        /// An errno.
        case failed(Int32)
    }

    /// Watches one folder or file, or changes the mask of its watch.
    ///
    /// - Parameter known: the watch that the path's inode is known to have; the library leaks a little then.
    func add(_ path: BytePath, _ mask: UInt32, known: Int32? = nil) -> Added {
        guard descriptor >= 0 else { return .failed(EMFILE) }
        spellings &+= 1
        let spelled = Self.spell(path, spellings)
        let done = spelled.withTerminated { inotifytools_watch_file($0, Int32(bitPattern: mask)) }
        guard done != 0 else { return .failed(inotifytools_error()) }
        // It puts a slash after a folder's name. We must not: that would follow a link.
        var wd = (spelled + [UInt8(ascii: "/")]).withTerminated { inotifytools_wd_from_filename($0) }
        if wd <= 0 { wd = spelled.withTerminated { inotifytools_wd_from_filename($0) } }
        guard wd > 0 else { return .failed(EIO) }
        if wd == known { staleEntries += 1 }
        return .watch(wd)
    }

    /// Takes a watch away that the kernel still has; an IGNORED event follows.
    func remove(_ wd: Int32) {
        guard descriptor >= 0 else { return }
        if inotifytools_remove_watch_by_wd(wd) == 0 { staleEntries += 1 }
    }

    /// The kernel dropped a watch by itself, and the library will never know.
    func kernelDropped() { staleEntries += 1 }

    /// The next event, without waiting; nil if there is none.
    func next() -> KernelEvent? {
        while descriptor >= 0 {
            guard let event = inotifytools_next_events(0, 1) else {
                // A signal says nothing about events: one may be waiting.
                if inotifytools_error() == EINTR { continue }
                return nil
            }
            let length = Int(event.pointee.len)
            let raw = UnsafeRawPointer(event).advanced(by: MemoryLayout<inotify_event>.size)
            let name = UnsafeRawBufferPointer(start: raw, count: length).prefix { $0 != 0 }
            return KernelEvent(
                wd: event.pointee.wd, mask: event.pointee.mask, cookie: event.pointee.cookie, name: Array(name))
        }
        return nil
    }

    /// A path to the same file that reads differently for each number: its bits, as `/` and `./`, after the first slash.
    private static func spell(_ path: BytePath, _ number: UInt32) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        var out = [slash]
        var bits = number
        while bits > 0 {
            if bits & 1 == 1 { out.append(dot) }
            out.append(slash)
            bits >>= 1
        }
        out += path.bytes.drop { $0 == slash }
        if out.last == slash { out.append(dot) }
        return out
    }
}

extension [UInt8] {
    fileprivate func withTerminated<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        (map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("a terminated path has a first byte") }
            return body(base)
        }
    }
}
