#if LibInotifyTools
    import CInotifyTools
    import CLinux
    import Glibc
    import Platform
    import Synchronization

    /// libinotifytools, wrapped to avoid its pitfalls. Its state is global and not locked: only one value may exist at
    /// a time, and only the owner thread may call it.
    ///
    /// Two of the pitfalls:
    /// - It looks up a watch's descriptor by file name, and once the kernel drops a watch it keeps the old one forever.
    ///   So every watch gets a spelling of its path that was never used before.
    /// - It cannot forget such a watch. They are counted, and ``restart()`` frees them.
    final class InotifyLibrary: EventQueue {
        private static let isInUse = Mutex(false)

        /// For poll(2); the library reads it.
        private(set) var descriptor: Int32 = -1
        private(set) var staleEntries = 0
        private var isOurs = true
        private var spellings: UInt32 = 0
        /// Reserves a low number for the descriptor of the next ``restart()``: the library uses select(2), which
        /// crashes the process at 1024.
        private var placeholder: Int32 = -1

        /// - Throws: `Fault` if it is already in use, the kernel grants no inotify instance, or 1024 files are open.
        init() throws {
            let free = Self.isInUse.withLock { isInUse in
                defer { isInUse = true }
                return !isInUse
            }
            guard free else {
                throw Fault(.fatal, "folders are already being watched in this process; stop that first")
            }
            do {
                try open()
            } catch {
                Self.isInUse.withLock { $0 = false }
                throw error
            }
        }

        /// Releases all resources. Drains first: the library would otherwise return old events in its next life.
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
            Self.isInUse.withLock { $0 = false }
        }

        /// Also frees the library's entries of dropped watches. The drain terminates, since the caller has removed its
        /// own watches.
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
                    throw Fault.noInotify(inotifytools_error())
                }
                let fresh = try Self.inotifyDescriptors().subtracting(before)
                // Another thread may have created one at the same moment; try again if so.
                if fresh.count == 1, let found = fresh.first, found < 1024 {
                    descriptor = found
                    _ = fcntl(found, F_SETFD, FD_CLOEXEC)
                    placeholder = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
                    return
                }
                inotifytools_cleanup()
            }
            throw Fault(
                .fatal, "too many files are open to watch folders: the inotify descriptor must be below 1024",
                errno: EMFILE
            )
        }

        private static func inotifyDescriptors() throws -> Set<Int32> {
            var found: Set<Int32> = []
            for entry in try PathStatus.entries("/proc/self/fd") {
                guard let number = Int32(String(decoding: entry.name, as: UTF8.self)) else { continue }
                var target = [CChar](repeating: 0, count: 64)
                let length = readlink("/proc/self/fd/\(number)", &target, target.count)
                if length > 0,
                    target.prefix(length).elementsEqual("anon_inode:inotify".utf8.map { CChar(bitPattern: $0) })
                {
                    found.insert(number)
                }
            }
            return found
        }

        /// Leaks a little in the library if the inode already has a watch.
        func add(_ path: BytePath, _ mask: UInt32, known: Int32?) -> WatchAnswer {
            guard descriptor >= 0 else { return .failed(EMFILE) }
            spellings &+= 1
            let spelled = Self.spell(path, spellings)
            let done = spelled.withTerminated { inotifytools_watch_file($0, Int32(bitPattern: mask)) }
            guard done != 0 else { return .failed(inotifytools_error()) }
            // The library appends a slash to a folder's name. We must not: that would follow a link.
            var wd = (spelled + [UInt8(ascii: "/")]).withTerminated { inotifytools_wd_from_filename($0) }
            if wd <= 0 { wd = spelled.withTerminated { inotifytools_wd_from_filename($0) } }
            guard wd > 0 else { return .failed(EIO) }
            if wd == known { staleEntries += 1 }
            return .watch(wd)
        }

        func remove(_ wd: Int32) {
            guard descriptor >= 0 else { return }
            if inotifytools_remove_watch_by_wd(wd) == 0 { staleEntries += 1 }
        }

        /// The library never finds out.
        func kernelDropped() { staleEntries += 1 }

        func next() -> KernelEvent? {
            while descriptor >= 0 {
                guard let event = inotifytools_next_events(0, 1) else {
                    // A signal says nothing about pending events.
                    if inotifytools_error() == EINTR { continue }
                    return nil
                }
                let raw = UnsafeMutableRawPointer(event).advanced(by: MemoryLayout<inotify_event>.size)
                let name = UnsafeMutableRawBufferPointer(start: raw, count: Int(event.pointee.len))
                return KernelEvent(event.pointee, takingNameFrom: name)
            }
            return nil
        }

        /// Spells the path to a file differently for each number: its bits, as `/` and `./`, after the first slash.
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
#endif
