import CArchive
import Foundation
import Platform
import TestSupport

/// A number in `count` bytes, little-endian.
package func little(_ value: some BinaryInteger, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// A number in `count` bytes, big-endian.
package func big(_ value: some BinaryInteger, _ count: Int) -> [UInt8] { little(value, count).reversed() }

/// The CRC-32 of ZIP, RAR and 7z.
package func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 { CRC32.of(Array(bytes)) }

/// The CRC-32 of two concatenated runs of bytes, from their checksums and the second's length.
package func checksum(_ first: UInt32, then second: UInt32, length: Int) -> UInt32 {
    CRC32.combined(first, second, length: Int64(length))
}

/// The bytes as a raw deflate stream.
package func deflated(_ bytes: [UInt8]) throws -> [UInt8] {
    // libarchive adds a gzip header of ten bytes and a trailer of eight.
    Array(try filtered(bytes, archive_write_add_filter_gzip).dropFirst(10).dropLast(8))
}

/// The bytes as one gzip, xz or zstd stream.
package func filtered(_ bytes: [UInt8], _ filter: (OpaquePointer?) -> Int32) throws -> [UInt8] {
    guard let archive = archive_write_new(), let entry = archive_entry_new() else { throw TestFailure("no memory") }
    defer {
        archive_entry_free(entry)
        archive_write_free(archive)
    }
    archive_write_set_format_raw(archive)
    guard filter(archive) == ARCHIVE_OK else { throw TestFailure("libarchive has no such filter") }
    archive_write_set_bytes_per_block(archive, 0)
    var out = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 4096)
    var used = 0
    let ok = out.withUnsafeMutableBytes { buffer in
        guard archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK else {
            return false
        }
        archive_entry_set_filetype(entry, 0o100_000)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { return false }
        let put = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
        return put == bytes.count && archive_write_close(archive) == ARCHIVE_OK
    }
    guard ok else { throw TestFailure("cannot compress") }
    return Array(out.prefix(used))
}

/// A raw deflate stream of `1 + 258 × runs` zeros, and their number: a 160th of their size.
package func deflatedZeros(runs: Int) -> (stream: [UInt8], count: Int) {
    var out: [UInt8] = []
    var held = 0
    var bits = 0
    func put(_ value: Int, _ count: Int) {
        held |= value << bits
        bits += count
        while bits >= 8 {
            out.append(UInt8(held & 255))
            held >>= 8
            bits -= 8
        }
    }
    func code(_ value: Int, _ count: Int) {
        for bit in stride(from: count - 1, through: 0, by: -1) { put(value >> bit & 1, 1) }
    }
    put(0b011, 3)  // the last block, with the fixed codes
    code(0b0011_0000, 8)  // a zero
    func copies(_ count: Int) {
        for _ in 0..<count {
            code(0b1100_0101, 8)  // a copy of 258 bytes
            code(0, 5)  // from one byte before
        }
    }
    copies(min(runs, 8 + runs % 8))
    if runs >= 16 {
        // Eight of them end at the same bit offset in a byte at which they began.
        copies(8)
        let eight = out.suffix(13)
        for _ in 0..<(runs / 8 - 2) { out += eight }
    }
    code(0, 7)
    if bits > 0 { put(0, 8 - bits) }
    return (out, 1 + 258 * runs)
}

/// The checksum of this many zeros.
package func checksumOfZeros(_ count: Int) -> UInt32 {
    var sum: UInt32 = 0
    var unit = checksum([0])
    var length = 1
    var left = count
    while left > 0 {
        if left & 1 == 1 { sum = checksum(sum, then: unit, length: length) }
        unit = checksum(unit, then: unit, length: length)
        length *= 2
        left >>= 1
    }
    return sum
}
