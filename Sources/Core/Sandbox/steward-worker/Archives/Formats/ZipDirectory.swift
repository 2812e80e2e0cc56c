import Platform
import Sandbox

/// The central directory of a ZIP: detects entries that share bytes.
///
/// A bomb of overlapping entries gives hundreds of entries the same compressed bytes; every checksum is right, and 29
/// KB inflate to more than a gigabyte. libarchive reads it without complaint.
enum ZipDirectory {
    /// The contents of a directory.
    struct Listing {
        var traits: ArchiveStructure.Traits
        /// The number of entries, or that in the end record if it differs.
        var count = 0
        /// In file order; empty if entries share bytes in a way that cannot be sorted.
        var entries: [Entry] = []
        /// Where the end record ends; the comment after it extends to the end of the file.
        var end: Int64?
    }

    /// nil if the file has no usable central directory; libarchive then refuses it too.
    static func scan(_ file: HandedFile) throws -> Listing? {
        let size = file.size
        guard let end = try findEnd(file) else { return nil }
        let traits: ArchiveStructure.Traits = end.isSplit ? .multiVolume : []
        var listing = Listing(traits: traits, end: end.stop)
        guard end.offset <= UInt64(size), end.size <= UInt64(size) - end.offset, end.size <= 64 << 20 else {
            return listing
        }
        let directory = try file.read(at: Int64(end.offset), count: Int(end.size))
        var ranges: [(start: UInt64, end: UInt64)] = []
        var listed: [Entry] = []
        var claimed: UInt64 = 0
        var cursor = ByteCursor(directory)
        while var entry = next(&cursor, in: directory) {
            if ranges.count > ArchiveLimits.maxHeaderCount {
                listing.traits.insert(.tooManyHeaders)
                return listing
            }
            if entry.isEncrypted { listing.traits.insert(.encrypted) }
            let (length, overflow) = entry.packedSize.addingReportingOverflow(30 + UInt64(entry.name.count))
            let (stop, tooFar) = entry.start.addingReportingOverflow(length)
            let (sum, tooMuch) = claimed.addingReportingOverflow(entry.packedSize)
            // The last of several parts lists the contents of the others.
            if end.isSplit { continue }
            if overflow || tooFar || tooMuch {
                listing.traits.insert(.overlap)
                return listing
            }
            claimed = sum
            ranges.append((entry.start, stop))
            let (start, beyond) = entry.start.addingReportingOverflow(end.shift)
            entry.start = beyond ? .max : start
            listed.append(entry)
        }
        ranges.sort { $0.start < $1.start }
        let overlaps = zip(ranges, ranges.dropFirst()).contains { $0.end > $1.start }
        if overlaps || claimed > UInt64(size) { listing.traits.insert(.overlap) }
        listing.count = end.count.map { $0 == UInt64(listed.count) & 0xFFFF ? listed.count : Int($0) } ?? listed.count
        listing.entries = listed.sorted { $0.start < $1.start }
        return listing
    }

    private struct End {
        var offset: UInt64
        var size: UInt64
        var isSplit: Bool
        /// The number of entries it claims, modulo 65,536; nil in a ZIP64.
        var count: UInt64?
        /// Where it ends, if its comment fills the rest of the file.
        var stop: Int64?
        /// The distance of the entries from where the directory says.
        var shift: UInt64 = 0
    }

    private static func findEnd(_ file: HandedFile) throws -> End? {
        let size = file.size
        let tailSize = min(size, 65_557 + 76)
        let tail = try file.read(at: size - tailSize, count: Int(tailSize))
        guard tail.count >= 22 else { return nil }
        let mark: [UInt8] = [0x50, 0x4B, 5, 6]
        for index in stride(from: tail.count - 22, through: 0, by: -1)
        where tail[index] == 0x50 && tail[index...].starts(with: mark) {
            var cursor = ByteCursor(tail, at: index + 4)
            guard let disk = cursor.number(2), let first = cursor.number(2), cursor.skip(2),
                let count = cursor.number(2), let length = cursor.number(4), let offset = cursor.number(4),
                let comment = cursor.number(2)
            else { return nil }
            let place = UInt64(size - tailSize) + UInt64(index)
            let stop = index + 22 + Int(comment) == tail.count ? Int64(place) + 22 : nil
            if var large = try findLargeEnd(file, tail: tail, index: index) {
                large.stop = stop
                large.isSplit = disk != 0 && disk != 0xFFFF || first != 0 && first != 0xFFFF
                return large
            }
            // Bytes prepended to the archive move the directory, but do not change the end record.
            let actual = length <= place ? place - length : offset
            return End(
                offset: actual, size: length, isSplit: disk != 0 && disk != 0xFFFF || first != 0 && first != 0xFFFF,
                count: count, stop: stop, shift: actual > offset ? actual - offset : 0)
        }
        return nil
    }

    /// The ZIP64 record, whenever its locator precedes the end record: a program that writes to a pipe uses it even if
    /// the numbers fit the end record. If bytes were prepended to the archive, libarchive does not find it either.
    ///
    /// - Parameter index: of the end record in `tail`.
    private static func findLargeEnd(_ file: HandedFile, tail: [UInt8], index: Int) throws -> End? {
        guard index >= 20 else { return nil }
        var locator = ByteCursor(tail, at: index - 20)
        guard locator.number(4) == 0x0706_4B50, locator.skip(4), let place = locator.number(8),
            place < UInt64(file.size)
        else { return nil }
        var record = ByteCursor(try file.read(at: Int64(place), count: 56))
        guard record.number(4) == 0x0606_4B50, record.skip(36), let length = record.number(8),
            let offset = record.number(8)
        else { return nil }
        return End(offset: offset, size: length, isSplit: false)
    }

    /// The directory's record of one entry.
    struct Entry: Equatable {
        /// Where its own header begins.
        var start: UInt64
        var packedSize: UInt64
        var unpackedSize: UInt64
        var name: [UInt8]
        var method: UInt16
        var flags: UInt16
        var crc32: UInt32

        var isEncrypted: Bool { flags & 1 != 0 }
    }

    private static func next(_ cursor: inout ByteCursor, in directory: [UInt8]) -> Entry? {
        guard cursor.number(4) == 0x0201_4B50, cursor.skip(4), let flags = cursor.number(2),
            let method = cursor.number(2), cursor.skip(4), let crc32 = cursor.number(4),
            var packed = cursor.number(4), var unpacked = cursor.number(4), let nameLength = cursor.number(2),
            let extraLength = cursor.number(2), let commentLength = cursor.number(2), cursor.skip(8),
            var start = cursor.number(4), let name = cursor.bytes(Int(nameLength))
        else { return nil }
        let extraEnd = cursor.position + Int(extraLength)
        var extra = ByteCursor(directory, at: cursor.position)
        while extra.position < extraEnd, let id = extra.number(2), let length = extra.number(2) {
            if id == 1 {
                var large = ByteCursor(directory, at: extra.position)
                if unpacked == 0xFFFF_FFFF, let value = large.number(8) { unpacked = value }
                if packed == 0xFFFF_FFFF, let value = large.number(8) { packed = value }
                if start == 0xFFFF_FFFF, let value = large.number(8) { start = value }
            }
            if !extra.skip(length) { break }
        }
        guard cursor.skip(extraLength), cursor.skip(commentLength) else { return nil }
        return Entry(
            start: start, packedSize: packed, unpackedSize: unpacked, name: name, method: UInt16(method),
            flags: UInt16(flags),
            crc32: UInt32(crc32))
    }
}
