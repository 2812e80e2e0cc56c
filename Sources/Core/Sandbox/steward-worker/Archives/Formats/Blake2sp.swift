import Sandbox

/// BLAKE2sp with 32 bytes, the checksum that RAR 5 may have instead of a CRC-32; computed incrementally.
///
/// Implemented here because libb2 uses eight threads, which the worker's cage forbids, and OpenSSL has no tree mode. It
/// protects from damage, not from forgery: a forger of the archive forges its checksum too.
struct Blake2sp {
    private var leaves = (0..<8).map { Blake2s(offset: UInt32($0), depth: 0, isLast: $0 == 7) }
    /// Bytes so far: blocks of 64 go to the leaves in turn.
    private var count = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Blake2s.blockLength - count % Blake2s.blockLength)
            leaves[count / Blake2s.blockLength % 8].update(UnsafeRawBufferPointer(rebasing: part))
            count += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    mutating func finish() -> [UInt8] {
        var root = Blake2s(offset: 0, depth: 1, isLast: true)
        for index in leaves.indices { leaves[index].finish().withUnsafeBytes { root.update($0) } }
        return root.finish()
    }
}

/// One node of the tree: BLAKE2s (RFC 7693) with the parameters of a tree of eight leaves and a root.
private struct Blake2s {
    static let blockLength = 64

    private var upper: SIMD4<UInt32>
    private var lower: SIMD4<UInt32>
    private var buffer = [UInt8](repeating: 0, count: Blake2s.blockLength)
    /// Buffered bytes: only at the end is it known which block is the last.
    private var waiting = 0
    private var total: UInt64 = 0
    private let isLast: Bool

    private static let upperStart = SIMD4<UInt32>(0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A)
    private static let lowerStart = SIMD4<UInt32>(0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)

    private static let order: [UInt8] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
        11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4, 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
        9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13, 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
        12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11, 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
        6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5, 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
    ]

    init(offset: UInt32, depth: UInt32, isLast: Bool) {
        // 32 bytes, no key, eight leaves, depth 2; inner hashes of 32 bytes.
        upper = Self.upperStart ^ SIMD4(32 | 8 << 16 | 2 << 24, 0, offset, depth << 16 | 32 << 24)
        lower = Self.lowerStart
        self.isLast = isLast
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            if waiting == Self.blockLength { compress(isFinal: false) }
            let length = min(Self.blockLength - waiting, bytes.count - start)
            for index in 0..<length { buffer[waiting + index] = bytes[start + index] }
            waiting += length
            start += length
        }
    }

    mutating func finish() -> [UInt8] {
        for index in waiting..<Self.blockLength { buffer[index] = 0 }
        compress(isFinal: true)
        return (0..<8).flatMap { index in
            let word = index < 4 ? upper[index] : lower[index - 4]
            return (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
        }
    }

    private mutating func compress(isFinal: Bool) {
        total += UInt64(waiting)
        waiting = 0
        var (a, b, c) = (upper, lower, Self.upperStart)
        var d = Self.lowerStart
        d[0] ^= UInt32(truncatingIfNeeded: total)
        d[1] ^= UInt32(truncatingIfNeeded: total >> 32)
        if isFinal { d[2] = ~d[2] }
        if isFinal, isLast { d[3] = ~d[3] }
        buffer.withUnsafeBytes { block in
            Self.order.withUnsafeBufferPointer { order in
                func words(_ first: Int) -> SIMD4<UInt32> {
                    func word(_ index: Int) -> UInt32 {
                        block.loadUnaligned(fromByteOffset: 4 * Int(order[first + index]), as: UInt32.self).littleEndian
                    }
                    return SIMD4(word(0), word(2), word(4), word(6))
                }
                for round in 0..<10 {
                    Self.mix(&a, &b, &c, &d, words(16 * round), words(16 * round + 1))
                    // The diagonals become columns, and back.
                    (b, c, d) = (Self.turn(b, 1), Self.turn(c, 2), Self.turn(d, 3))
                    Self.mix(&a, &b, &c, &d, words(16 * round + 8), words(16 * round + 9))
                    (b, c, d) = (Self.turn(b, 3), Self.turn(c, 2), Self.turn(d, 1))
                }
            }
        }
        upper ^= a ^ c
        lower ^= b ^ d
    }

    private static func mix(
        _ a: inout SIMD4<UInt32>, _ b: inout SIMD4<UInt32>, _ c: inout SIMD4<UInt32>, _ d: inout SIMD4<UInt32>,
        _ first: SIMD4<UInt32>, _ second: SIMD4<UInt32>
    ) {
        a = a &+ b &+ first
        d = rotate(d ^ a, 16)
        c = c &+ d
        b = rotate(b ^ c, 12)
        a = a &+ b &+ second
        d = rotate(d ^ a, 8)
        c = c &+ d
        b = rotate(b ^ c, 7)
    }

    private static func rotate(_ row: SIMD4<UInt32>, _ bits: UInt32) -> SIMD4<UInt32> {
        row &>> SIMD4(repeating: bits) | row &<< SIMD4(repeating: 32 - bits)
    }

    private static func turn(_ row: SIMD4<UInt32>, _ count: Int) -> SIMD4<UInt32> {
        SIMD4(row[count & 3], row[(count + 1) & 3], row[(count + 2) & 3], row[(count + 3) & 3])
    }
}
