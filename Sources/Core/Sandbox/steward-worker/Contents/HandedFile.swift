import Glibc
import Platform
import Sandbox

/// The file on descriptor 3. It is read at offsets alone: where the agent's own descriptor stands is not changed.
final class HandedFile {
    /// Bytes.
    let size: Int64
    private let descriptor: Int32

    /// - Returns: nil where there is no file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.descriptor = descriptor
        size = Int64(status.st_size)
    }

    /// Fills `target` from `offset` on.
    ///
    /// - Returns: how many bytes there were: fewer only at the file's end; -1 where they cannot be read.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var done = 0
        while done < target.count {
            let got = pread(
                descriptor, target.baseAddress?.advanced(by: done), target.count - done, Int(offset) + done)
            if got < 0, errno == EINTR { continue }
            if got < 0 { return -1 }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// As many bytes as there are, up to `count`.
    ///
    /// - Throws: `Fault` where they cannot be read.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        let length = Int(min(Int64(count), size - offset))
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            let got = read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            guard got >= 0 else { throw Fault.system("read the file") }
            filled = got
        }
    }

    /// As the readers of pictures want it.
    func picture() throws -> PictureBytes {
        PictureBytes(head: try read(at: 0, count: 65_536), size: size) { try self.read(at: $0, count: $1) }
    }
}
