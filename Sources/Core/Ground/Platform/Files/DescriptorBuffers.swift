import Glibc

extension Descriptor {
    /// Fills `buffer`, starting at `offset`, without an intermediate array; fewer bytes only at the end of the file.
    /// Blocks.
    ///
    /// - Returns: the number of bytes read.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        Blocking.call()
        var filled = 0
        while filled < buffer.count {
            let got = pread(raw, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, Int(offset) + filled)
            if got == 0 { break }
            if got < 0 {
                if Glibc.errno == EINTR { continue }
                throw Fault.system("read", path)
            }
            filled += got
        }
        return filled
    }

    /// Writes all of `buffer` at `offset`, without an intermediate array. Blocks.
    package func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws {
        Blocking.call()
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
