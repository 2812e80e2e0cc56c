import CLinux
import Glibc

/// An open file descriptor, closed when the last reference goes. Calls block: use it on a ``BlockingLane``.
package final class Descriptor: Sendable {
    package let raw: Int32
    package let path: BytePath

    /// Takes over a descriptor that is already open.
    package init(owning raw: Int32, path: BytePath) {
        self.raw = raw
        self.path = path
    }

    /// Opens `path` with close-on-exec; symbolic links at its end are refused unless `follow`.
    ///
    /// - Throws: `Fault` with the errno of open(2).
    package convenience init(
        _ path: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600, follow: Bool = false
    ) throws {
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)
        let raw = path.withCString { open($0, all, mode) }
        guard raw >= 0 else { throw Fault.system("open", path) }
        self.init(owning: raw, path: path)
    }

    deinit { close(raw) }

    package func status() throws -> FileStatus {
        var found = stat()
        guard fstat(raw, &found) == 0 else { throw Fault.system("read the status of", path) }
        return FileStatus(found)
    }

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
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
    package func readAll(limit: Int64 = 64 << 20) throws -> [UInt8] {
        let size = try status().size
        guard size <= limit else {
            throw Fault(.refused, "\(path) has \(size) bytes, more than the \(limit) that are read as text", path: path)
        }
        var all: [UInt8] = []
        all.reserveCapacity(Int(size))
        while true {
            let part = try read(at: Int64(all.count), count: max(65_536, Int(size) - all.count + 1))
            if part.isEmpty { return all }
            all += part
            if Int64(all.count) > limit {
                throw Fault(.refused, "\(path) grew past \(limit) bytes while it was read", path: path)
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: some Collection<UInt8>, at offset: Int64) throws {
        try Array(bytes).withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let part = FaultPoint.isArmed && done == 0 ? (buffer.count + 1) / 2 : buffer.count - done
                let put = pwrite(raw, buffer.baseAddress?.advanced(by: done), part, Int(offset) + done)
                if put < 0 {
                    if Glibc.errno == EINTR { continue }
                    throw Fault.system("write", path)
                }
                done += put
                FaultPoint.reach("written")
            }
        }
    }

    package func truncate(to size: Int64) throws {
        guard ftruncate(raw, Int(size)) == 0 else { throw Fault.system("truncate", path) }
        FaultPoint.reach("truncated")
    }

    /// fsync(2): data and metadata are on the disk when it returns.
    package func sync() throws {
        guard fsync(raw) == 0 else { throw Fault.system("sync", path) }
        FaultPoint.reach("synced")
    }
}
