import COpenSSL
import Glibc
import Platform

/// Page-aligned memory, so that the kernel can read into it directly; wiped on release, because it holds comics in the
/// clear. Not thread-safe.
final class AlignedBuffer {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ count: Int) throws {
        var start: UnsafeMutableRawPointer?
        let code = posix_memalign(&start, 4096, count)
        guard code == 0, let start else { throw Fault.system("get \(count) bytes of memory", errno: code) }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        free(bytes.baseAddress)
    }

    /// `count` bytes from `offset` on.
    func part(_ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are zero.
    var isZero: Bool {
        guard let first, let baseAddress else { return true }
        return first == 0 && memcmp(baseAddress, baseAddress + 1, count - 1) == 0
    }
}
