import CLinux
import Glibc
import Synchronization

/// Tells when processes end (pidfds) and when files change or go (inotify). Its thread starts with the first of them,
/// and sleeps until one does.
package final class EndWatch: Sendable {
    package enum Subject: Hashable, Sendable {
        case process(Int32)
        /// The file of that name, or the link; a hint, as the name may mean another file by now.
        case file(BytePath)
    }

    private let shared: Shared

    /// - Parameter tell: called on the watch's own thread, where it may block. A file is watched until it returns true
    ///   or the file is gone; a process ends once.
    package init(_ tell: @escaping @Sendable (Subject) -> Bool) { shared = Shared(tell) }

    deinit { shared.stop() }

    /// Begins to watch; false if that is not possible, or it has ended already. Watching twice is watching once.
    package func watch(_ subject: Subject) -> Bool {
        shared.state.withLock { state in
            guard state.isReady, let bell = state.bell else { return shared.begin(subject, &state) }
            defer { _ = eventfd_write(bell.raw, 1) }
            return shared.add(subject, &state)
        }
    }

    private final class Shared: Sendable {
        struct State {
            var isReady = false
            var isStopping = false
            /// Wakes the thread.
            var bell: Descriptor?
            var inotify: Descriptor?
            var processes: [Int32: Descriptor] = [:]
            /// With a number that is new each time: the kernel's is the same for the same file.
            var files: [BytePath: (watch: Int32, number: Int)] = [:]
            var lastNumber = 0
        }

        let state = Mutex(State())
        private let tell: @Sendable (Subject) -> Bool

        private static let changes = UInt32(
            IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW)

        init(_ tell: @escaping @Sendable (Subject) -> Bool) { self.tell = tell }

        func stop() {
            state.withLock { state in
                state.isStopping = true
                if let bell = state.bell { _ = eventfd_write(bell.raw, 1) }
            }
        }

        /// Starts the thread with its first subject.
        func begin(_ subject: Subject, _ state: inout State) -> Bool {
            let (bell, inotify) = (
                eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)),
                inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            )
            // Without inotify, processes can still be watched.
            if inotify >= 0 { state.inotify = Descriptor(owning: inotify, path: "inotify") }
            guard bell >= 0 else { return false }
            state.bell = Descriptor(owning: bell, path: "eventfd")
            do {
                _ = try OwnerThread { [self] in run() }
            } catch {
                // Without a thread the caller has to look by itself, as without a watch.
                return false
            }
            state.isReady = true
            return add(subject, &state)
        }

        func add(_ subject: Subject, _ state: inout State) -> Bool {
            switch subject {
            case .process(let id):
                if state.processes[id] != nil { return true }
                let handle = steward_open_process(id)
                guard handle >= 0 else { return false }
                state.processes[id] = Descriptor(owning: handle, path: "pidfd")
            case .file(let path):
                guard let inotify = state.inotify else { return false }
                let watch = path.withCString { inotify_add_watch(inotify.raw, $0, Self.changes) }
                guard watch >= 0 else { return false }
                state.lastNumber += 1
                state.files[path] = (watch, state.lastNumber)
            }
            return true
        }

        private func run() {
            while true {
                let (bell, inotify, processes) = state.withLock { state in
                    (state.isStopping ? nil : state.bell, state.inotify, state.processes)
                }
                guard let bell else { return }
                let ids = Array(processes.keys)
                var waits = [bell.raw, inotify?.raw ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                waits += ids.map { pollfd(fd: processes[$0]?.raw ?? -1, events: Int16(POLLIN), revents: 0) }
                guard poll(&waits, nfds_t(waits.count), -1) >= 0 || errno == EINTR else { return }
                var count = eventfd_t()
                if waits[0].revents != 0 { _ = eventfd_read(bell.raw, &count) }
                if let inotify, waits[1].revents != 0 { changed(in: inotify) }
                for (id, wait) in zip(ids, waits.dropFirst(2)) where wait.revents != 0 {
                    state.withLock { _ = $0.processes.removeValue(forKey: id) }
                    _ = tell(.process(id))
                }
            }
        }

        private func changed(in inotify: Descriptor) {
            let (watches, hasLost) = Self.events(of: inotify)
            let changed = state.withLock { state in
                state.files.filter { hasLost || watches.contains($0.value.watch) }
            }
            for (path, (watch, number)) in changed {
                if !tell(.file(path)) {
                    // Another file may have taken the name.
                    if state.withLock({ add(.file(path), &$0) }) { continue }
                    _ = tell(.file(path))
                }
                state.withLock { state in
                    guard state.files[path]?.number == number else { return }
                    state.files[path] = nil
                    _ = inotify_rm_watch(inotify.raw, watch)
                }
            }
        }

        /// The watches with events, and whether some were lost.
        private static func events(of inotify: Descriptor) -> (watches: Set<Int32>, hasLost: Bool) {
            var watches: Set<Int32> = []
            var hasLost = false
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(inotify.raw, $0.baseAddress, $0.count) }
                guard count > 0 else { return (watches, hasLost) }
                buffer.withUnsafeBytes { bytes in
                    var place = 0
                    while place + MemoryLayout<inotify_event>.size <= count {
                        let event = bytes.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
                        watches.insert(event.wd)
                        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLost = true }
                        place += MemoryLayout<inotify_event>.size + Int(event.len)
                    }
                }
            }
        }
    }
}
