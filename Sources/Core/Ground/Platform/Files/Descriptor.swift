import CLinux
import Glibc

/// An open file descriptor, closed when the last reference goes. Calls block: use it on a ``BlockingPool``.
package final class Descriptor: Sendable {
    package let raw: Int32
    package let path: BytePath

    /// Takes over a descriptor that is already open.
    package init(owning raw: Int32, path: BytePath) {
        self.raw = raw
        self.path = path
    }

    deinit { close(raw) }

    package func status() throws -> FileStatus {
        Blocking.call()
        var found = stat()
        guard fstat(raw, &found) == 0 else { throw Fault.system("read the status of", path) }
        return FileStatus(found)
    }

    /// When the file was made, in nanoseconds since 1970: with its inode what tells it from one that got the inode after
    /// it. Nil where the file system does not say.
    package func birth() throws -> Int64? {
        Blocking.call()
        var time: Int64 = 0
        switch steward_birth(raw, "", &time) {
        case 0: return time
        case 1: return nil
        default: throw Fault.system("read the birth time of", path)
        }
    }

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        Blocking.call()
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(raw, buffer.baseAddress?.advanced(by: filled), count - filled, Int(offset) + filled)
                if got == 0 { break }
                if got < 0 {
                    if Glibc.errno == EINTR { continue }
                    throw Fault.system("read", path)
                }
                filled += got
            }
        }
    }

    /// Reads the whole file.
    ///
    /// - Parameter limit: bytes; a larger file is refused, so that a note that is no note cannot fill the memory.
    package func readAll(limit: Int64 = textLimit) throws -> [UInt8] {
        let size = try status().size
        guard size <= limit else { throw Self.tooLong(path, size, limit) }
        // As a rule that is all of it, and no second copy of a large one is made.
        var all = try read(at: 0, count: Int(size))
        while true {
            let part = try read(at: Int64(all.count), count: 65_536)
            if part.isEmpty { return all }
            all += part
            if Int64(all.count) > limit {
                throw Fault(.refused, "\(path) grew past \(limit) bytes while it was read", path: path)
            }
        }
    }

    /// Bytes; a file of more is no text of a person's.
    package static let textLimit: Int64 = 64 << 20

    private static func tooLong(_ path: BytePath, _ size: Int64, _ limit: Int64) -> Fault {
        Fault(.refused, "\(path) has \(size) bytes, more than the \(limit) that are read as text", path: path)
    }

    /// The hash of what ``readAll(limit:)`` gives, of which only a part is in memory at a time.
    package func hashAll(limit: Int64 = textLimit) throws -> ContentHash {
        let size = try status().size
        guard size <= limit else { throw Self.tooLong(path, size, limit) }
        var hasher = StreamingHash()
        var position: Int64 = 0
        while true {
            let part = try read(at: position, count: 65_536)
            if part.isEmpty { return hasher.finish() }
            hasher.update(part)
            position += Int64(part.count)
            guard position <= limit else {
                throw Fault(.refused, "\(path) grew past \(limit) bytes while it was read", path: path)
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: some Collection<UInt8>, at offset: Int64) throws {
        try Array(bytes).withUnsafeBytes { try write($0, at: offset) }
    }

    package func truncate(to size: Int64) throws {
        Blocking.call()
        guard ftruncate(raw, Int(size)) == 0 else { throw Fault.system("truncate", path) }
        FaultPoint.reach("truncated")
    }

    /// fsync(2): data and metadata are on the disk when it returns.
    package func sync() throws {
        Blocking.call()
        guard fsync(raw) == 0 else { throw Fault.system("sync", path) }
        FaultPoint.reach("synced")
    }
}
