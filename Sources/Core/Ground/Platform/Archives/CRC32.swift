/// The checksum of ZIP, gzip, PNG and RAR; computed incrementally, eight bytes at a time.
package struct CRC32: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
            tables[index] = value
        }
        for index in 256..<(8 * 256) {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 255)]
        }
        return tables
    }()

    package init() {}

    /// The checksum of some bytes.
    package static func of(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32()
        bytes.withUnsafeBytes { crc.update($0) }
        return crc.value
    }

    /// Of all bytes so far.
    package var value: UInt32 { ~state }

    /// The checksum of two concatenated runs of bytes.
    ///
    /// - Parameter length: bytes of the second.
    package static func combined(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        // Polynomials over two elements, highest power in the lowest bit, modulo the checksum's polynomial.
        func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
            var (sum, right): (UInt32, UInt32) = (0, right)
            for bit in (0..<32).reversed() {
                if left >> UInt32(bit) & 1 == 1 { sum ^= right }
                right = right & 1 == 0 ? right >> 1 : right >> 1 ^ 0xEDB8_8320
            }
            return sum
        }
        // x to the power of 8, squared repeatedly.
        var (power, factor, left): (UInt32, UInt32, Int64) = (1 << 31, 1 << 23, length)
        while left > 0 {
            if left & 1 == 1 { power = product(power, factor) }
            factor = product(factor, factor)
            left >>= 1
        }
        return product(power, first) ^ second
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var crc = state
        Self.tables.withUnsafeBufferPointer { table in
            var index = 0
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian ^ UInt64(crc)
                crc = 0
                for part in 0..<8 { crc ^= table[(7 - part) << 8 | Int(word >> UInt64(8 * part) & 255)] }
                index += 8
            }
            while index < bytes.count {
                crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[index])) & 255)]
                index += 1
            }
        }
        state = crc
    }
}
