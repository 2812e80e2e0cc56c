import CLinux
import Glibc

/// An open file descriptor, closed with its last reference. Calls block: use it on a ``BlockingPool``.
package final class Descriptor: Sendable {
    package let raw: Int32
    package let path: BytePath

    /// Takes ownership of an open descriptor.
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

    /// When the file was created, in nanoseconds since 1970. Together with the inode, it distinguishes the file from a
    /// later one with the same inode. nil if the file system does not say.
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
    /// - Parameter limit: in bytes; a larger file is refused, so that a huge "note" cannot fill the memory.
    package func readAll(limit: Int64 = textLimit) throws -> [UInt8] {
        let size = try status().size
        guard size <= limit else { throw Self.tooLong(path, size, limit) }
        // Usually this is all of it, and a large file is not copied a second time.
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

    /// In bytes; a larger file is no text of a person's.
    package static let textLimit: Int64 = 64 << 20

    private static func tooLong(_ path: BytePath, _ size: Int64, _ limit: Int64) -> Fault {
        Fault(.refused, "\(path) has \(size) bytes, more than the \(limit) that are read as text", path: path)
    }

    /// The hash of the data that ``readAll(limit:)`` would return, with only a part in memory at a time.
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

    /// fsync(2): data and metadata are on disk when it returns.
    package func sync() throws {
        Blocking.call()
        guard fsync(raw) == 0 else { throw Fault.system("sync", path) }
        FaultPoint.reach("synced")
    }
}
