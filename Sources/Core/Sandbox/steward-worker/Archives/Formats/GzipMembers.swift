import Platform
import Sandbox

/// A gzip file, which may consist of several concatenated members followed by zeros, as tapes and parallel compressors
/// produce.
///
/// libarchive inflates all members as one stream and ignores their checksums. Member boundaries are not visible from
/// outside. But every possible start is preceded by a possible checksum and length, and only if all the chosen ones are
/// right do they combine to the checksum of the whole.
struct GzipMembers {
    let bytes: HandedFile

    private struct Trailer {
        let crc32: UInt32
        let size: Int64
    }

    /// A block-compressed file of two gigabytes has half as many.
    private static let mostMembers = 65_536
    private static let trailerLength: Int64 = 8
    /// Header, trailer, and the shortest stream.
    private static let leastLength: Int64 = 20

    /// Whether the checksums in the file match the inflated data.
    func prove(crc32: UInt32, size inflated: Int64) -> Bool {
        guard let end = endOfContent() else { return false }
        // The last bytes of a length are usually zeros.
        let ends = (end...min(end + Self.trailerLength, bytes.size)).compactMap { trailer(before: $0) }
        if ends.contains(where: { $0.crc32 == crc32 && $0.size == inflated & 0xFFFF_FFFF }) { return true }
        guard let starts = laterStarts() else { return false }
        var sum = Trailer(crc32: 0, size: 0)
        for start in starts {
            guard let next = trailer(before: start) else { return false }
            sum = Self.joined(sum, next)
        }
        return ends.map { Self.joined(sum, $0) }.contains { $0.crc32 == crc32 && $0.size == inflated }
    }

    private static func joined(_ first: Trailer, _ second: Trailer) -> Trailer {
        Trailer(
            crc32: CRC32.combined(first.crc32, second.crc32, length: second.size), size: first.size + second.size)
    }

    private func trailer(before end: Int64) -> Trailer? {
        guard end >= Self.trailerLength else { return nil }
        var numbers = ByteCursor(read(at: end - Self.trailerLength, Int(Self.trailerLength)))
        guard let crc32 = numbers.number(4), let size = numbers.number(4) else { return nil }
        return Trailer(crc32: UInt32(crc32), size: Int64(size))
    }

    /// The offset after the last nonzero byte.
    private func endOfContent() -> Int64? {
        var end = bytes.size
        while end > 0 {
            let start = max(0, end - 65_536)
            let part = read(at: start, Int(end - start))
            guard Int64(part.count) == end - start else { return nil }
            if let last = part.lastIndex(where: { $0 != 0 }) { return start + Int64(last) + 1 }
            end = start
        }
        return nil
    }

    /// Possible starts after the first; nil if there are none, or too many.
    private func laterStarts() -> [Int64]? {
        var starts: [Int64] = []
        var offset = Self.leastLength
        while offset < bytes.size {
            // Include a header whose first four bytes span two parts.
            let part = read(at: offset, 65_536 + 3)
            guard part.count > 3 else { break }
            for index in 0..<(part.count - 3)
            where part[index] == 0x1F && part[index + 1] == 0x8B && part[index + 2] == 8 && part[index + 3] < 0x20 {
                starts.append(offset + Int64(index))
                if starts.count > Self.mostMembers { return nil }
            }
            offset += 65_536
        }
        return starts.isEmpty ? nil : starts
    }

    private func read(at offset: Int64, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, bytes.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset))
        }
    }
}
