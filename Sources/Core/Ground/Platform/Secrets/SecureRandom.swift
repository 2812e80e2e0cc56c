import Glibc

/// Random bytes from the kernel, by getrandom(2). No generator state is kept in this process, so a machine that is
/// cloned or resumed while running does not repeat them because of us.
package enum SecureRandom {
    package static func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { try fill($0) }
        return bytes
    }

    package static func fill(_ target: UnsafeMutableRawBufferPointer) throws {
        // getentropy(3) is getrandom(2), at most 256 bytes per call.
        for start in stride(from: 0, to: target.count, by: 256) {
            let part = min(256, target.count - start)
            guard let address = target.baseAddress?.advanced(by: start), getentropy(address, part) == 0 else {
                throw Fault.system("get random bytes")
            }
        }
    }
}
