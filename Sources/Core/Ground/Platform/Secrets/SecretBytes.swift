import CLinux
import COpenSSL
import Glibc

/// Key material: in locked memory (no swap), excluded from core dumps, between guard pages, and wiped with its last
/// reference. It has no description, is not `Codable` and never becomes an array implicitly.
package final class SecretBytes: Sendable {
    // Written only during initialization.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    package let count: Int

    /// Zeros.
    ///
    /// - Throws: `Fault` if the memory cannot be locked or is used up.
    package convenience init(count: Int) throws {
        try self.init(count: count) { _ in }
    }

    /// For keys that are still useful if the system does not let more memory be locked: excluded from core dumps if
    /// possible, and wiped in any case. The bytes stay with the caller.
    package init(lockedWherePossible bytes: some Collection<UInt8>) {
        count = bytes.count
        start = SecretHeap.allocateWherePossible(count)
        UnsafeMutableRawBufferPointer(start: start, count: count).copyBytes(from: bytes)
    }

    /// Fills `count` bytes in place, so that they are never anywhere else.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let start = try SecretHeap.allocate(count)
        do {
            try fill(UnsafeMutableRawBufferPointer(start: start, count: count))
        } catch {
            SecretHeap.free(start, count)
            throw error
        }
        self.start = start
        self.count = count
    }

    package convenience init(_ bytes: UnsafeRawBufferPointer) throws {
        try self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// The array stays with the caller, who should wipe it (``wipe(_:)``).
    package convenience init(_ bytes: [UInt8]) throws {
        try self.init(count: bytes.count) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    deinit { SecretHeap.free(start, count) }

    package static func random(_ count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { try SecureRandom.fill($0) }
    }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Compares in constant time; lengths are not secret.
    package func matches(_ other: SecretBytes) -> Bool {
        count == other.count && CRYPTO_memcmp(start, other.start, count) == 0
    }

    package func prefix(_ length: Int) throws -> SecretBytes { try slice(0..<length) }

    package func suffix(_ length: Int) throws -> SecretBytes { try slice((count - length)..<count) }

    /// A copy of the bytes in `range`, which must be in bounds.
    package func slice(_ range: Range<Int>) throws -> SecretBytes {
        try withBytes { try SecretBytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The concatenation of both.
    package func appending(_ other: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: count + other.count) { target in
            withBytes { target.copyMemory(from: $0) }
            other.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: $0) }
        }
    }
}

/// Overwrites an array that held a secret and empties it. Cannot reach copies made earlier.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    bytes.removeAll()
}

/// Compares two tags in constant time.
package func constantTimeEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

/// libcrypto's secure heap: one locked and guarded region, excluded from core dumps. libcrypto keeps its own private
/// keys there as well.
private enum SecretHeap {
    /// Small enough for the 64 KiB that old systems let a user lock; the smallest block is the size of a key. If the
    /// heap can be created but not locked, libcrypto returns 2 and uses it anyway.
    private static let made: Int32 = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
        let size = limit.rlim_cur >= 2 << 20 ? 1 << 20 : 32 << 10
        return CRYPTO_secure_malloc_initialized() == 1 ? 1 : CRYPTO_secure_malloc_init(size, 32)
    }()

    /// The first secret that must be locked disables core dumps of the process and inspection by other processes of the
    /// same user: keys also pass through registers and stacks. Decrypted data (titles, pages) is wiped where it is
    /// freed.
    private static let isLocked: Bool = {
        guard steward_forbid_core_dumps() == 0 else { return false }
        steward_wipe_freed_memory()
        return made == 1
    }()

    static func allocate(_ count: Int) throws -> UnsafeMutableRawPointer {
        guard isLocked else {
            throw Fault(
                .failed,
                "memory for keys cannot be locked, so they could reach the swap; raise the limit (`LimitMEMLOCK=2M` in "
                    + "the unit, `ulimit -l 2048` in a shell) and start again")
        }
        guard let start = CRYPTO_secure_zalloc(max(1, count), #fileID, #line) else {
            throw Fault(
                .transient,
                "the locked memory for keys is used up; close comics that are open, or raise `LimitMEMLOCK`")
        }
        return start
    }

    static func allocateWherePossible(_ count: Int) -> UnsafeMutableRawPointer {
        let size = max(1, count)
        if made != 0, let start = CRYPTO_secure_zalloc(size, #fileID, #line) { return start }
        guard let start = CRYPTO_zalloc(size, #fileID, #line) else { preconditionFailure("no memory for a key") }
        return start
    }

    /// Detects whether the memory belongs to the heap, and wipes it in either case.
    static func free(_ start: UnsafeMutableRawPointer, _ count: Int) {
        CRYPTO_secure_clear_free(start, max(1, count), #fileID, #line)
    }
}
