import Glibc
import Platform
import Sandbox

/// The file on descriptor 3. Always read at explicit offsets: the position of the agent's own descriptor does not
/// change.
final class HandedFile {
    /// Bytes.
    let size: Int64
    private let descriptor: Int32

    /// - Returns: nil if there is no file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.descriptor = descriptor
        size = Int64(status.st_size)
    }

    /// Fills `target`, starting at `offset`.
    ///
    /// - Returns: the number of bytes: fewer only at the file's end; -1 if they cannot be read.
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

    /// The bytes available at `offset`, up to `count`.
    ///
    /// - Throws: `Fault` if they cannot be read.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        let length = Int(min(Int64(count), size - offset))
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            let got = read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            guard got >= 0 else { throw Fault.system("read the file") }
            filled = got
        }
    }

    /// In the form that picture parsers take.
    func picture() throws -> PictureBytes {
        PictureBytes(head: try read(at: 0, count: 65_536), size: size) { try self.read(at: $0, count: $1) }
    }
}
