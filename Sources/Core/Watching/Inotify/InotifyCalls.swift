import CLinux
import Glibc
import Platform

/// inotify(7) through its own system calls.
final class InotifyCalls: EventQueue {
    private(set) var descriptor: Int32 = -1
    /// The kernel keeps nothing of a removed watch.
    let staleEntries = 0
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 64 << 10, alignment: MemoryLayout<inotify_event>.alignment)
    /// The part of the buffer that is filled but not yet returned.
    private var unread = 0..<0

    /// - Throws: `Fault` if the kernel grants no inotify instance.
    init() throws { try open() }

    deinit {
        close()
        buffer.deallocate()
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        (descriptor, unread) = (-1, 0..<0)
    }

    func restart() throws {
        close()
        try open()
    }

    private func open() throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if descriptor < 0 { throw Fault.noInotify(errno) }
    }

    func add(_ path: BytePath, _ mask: UInt32, known: Int32?) -> WatchAnswer {
        guard descriptor >= 0 else { return .failed(EMFILE) }
        let wd = path.withCString { inotify_add_watch(descriptor, $0, mask) }
        return wd >= 0 ? .watch(wd) : .failed(errno)
    }

    func remove(_ wd: Int32) {
        // A watch that the kernel dropped in the meantime is gone as well.
        if descriptor >= 0 { _ = inotify_rm_watch(descriptor, wd) }
    }

    func kernelDropped() {}

    func next() -> KernelEvent? {
        guard !unread.isEmpty || refill() else { return nil }
        let event = buffer[unread]
        let head = UnsafeRawBufferPointer(rebasing: event).loadUnaligned(as: inotify_event.self)
        let name = event.dropFirst(MemoryLayout<inotify_event>.size).prefix(Int(head.len))
        unread = name.endIndex..<unread.upperBound
        return KernelEvent(head, takingNameFrom: UnsafeMutableRawBufferPointer(rebasing: name))
    }

    /// - Returns: whether there were events; the kernel returns only whole ones.
    private func refill() -> Bool {
        while descriptor >= 0 {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 {
                unread = 0..<count
                return true
            }
            // A signal says nothing about pending events.
            if count < 0, errno == EINTR { continue }
            return false
        }
        return false
    }
}
