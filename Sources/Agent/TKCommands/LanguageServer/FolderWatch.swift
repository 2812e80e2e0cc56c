import CLinux
import Glibc
import Platform
import Synchronization

/// Tells when files in some folders change, by inotify on a thread of its own. Not of changes in folders below them.
final class FolderWatch: Sendable {
    private let descriptor: Descriptor
    private let folders = Mutex<[Int32: BytePath]>([:])

    private static let mask = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR)

    /// - Parameter changed: called on the thread, with the path of a file or folder that was written, created, renamed to
    ///   or removed. With nil if events were lost. Must not block.
    /// - Throws: `Fault` if the kernel grants no inotify instance.
    init(_ changed: @escaping @Sendable (BytePath?) -> Void) throws {
        let raw = inotify_init1(Int32(IN_CLOEXEC))
        guard raw >= 0 else { throw Fault.system("watch folders") }
        descriptor = Descriptor(owning: raw, path: "inotify")
        _ = try OwnerThread { [descriptor, weak self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = Glibc.read(descriptor.raw, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0, let self else { return }
                for event in Self.events(buffer[..<count]) {
                    changed(event.name.flatMap { self.path(event.watch, $0) })
                }
            }
        }
    }

    /// Watches these folders as well; those that do not exist are left out. Blocks.
    func add(_ wanted: [BytePath]) {
        for folder in wanted {
            // The same folder has the same number at each call.
            let number = folder.withCString { inotify_add_watch(descriptor.raw, $0, Self.mask) }
            if number >= 0 { folders.withLock { $0[number] = folder } }
        }
    }

    private func path(_ watch: Int32, _ name: [UInt8]) -> BytePath? {
        folders.withLock { $0[watch] }?.appending(name: name)
    }

    /// The events in a buffer; those without a name say that others were lost, or a folder is gone.
    private static func events(_ bytes: ArraySlice<UInt8>) -> [(watch: Int32, name: [UInt8]?)] {
        let head = MemoryLayout<inotify_event>.size
        var events: [(watch: Int32, name: [UInt8]?)] = []
        var rest = bytes
        while rest.count >= head {
            let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            let name = rest.dropFirst(head).prefix(Int(event.len)).prefix { $0 != 0 }
            events.append((event.wd, name.isEmpty ? nil : Array(name)))
            rest = rest.dropFirst(head + Int(event.len))
        }
        return events
    }
}
