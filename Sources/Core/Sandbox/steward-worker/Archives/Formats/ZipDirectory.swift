import Platform
import Sandbox

/// The central directory of a ZIP: whether its entries share bytes.
///
/// A quoted-overlap bomb gives hundreds of entries the same compressed bytes; every checksum is right, and 29 KB become
/// more than a gigabyte. libarchive reads it without complaint.
enum ZipDirectory {
    /// What a directory says.
    struct Listing {
        var traits: ArchiveStructure.Traits
        /// How many entries there are, by their number or by the end record where that says another.
        var count = 0
        /// In the order in which they stand in the file; empty where entries share bytes in a way that cannot be sorted.
        var entries: [Entry] = []
        /// Where the end record is over; the comment behind it goes to the end of the file.
        var end: Int64?
    }

    /// nil where the file holds no central directory that can be followed; libarchive then refuses it too.
    static func scan(_ file: ArchiveBytes) throws -> Listing? {
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
            // The last of several parts lists what stands in the others.
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
        /// How many entries it says there are, modulo 65,536; nil in a ZIP64.
        var count: UInt64?
        /// Where it is over, if its comment fills the rest of the file.
        var stop: Int64?
        /// By how much the entries stand behind where the directory says.
        var shift: UInt64 = 0
    }

    private static func findEnd(_ file: ArchiveBytes) throws -> End? {
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
            // Bytes put before the archive move the directory, but not what stands in the end record.
            let actual = length <= place ? place - length : offset
            return End(
                offset: actual, size: length, isSplit: disk != 0 && disk != 0xFFFF || first != 0 && first != 0xFFFF,
                count: count, stop: stop, shift: actual > offset ? actual - offset : 0)
        }
        return nil
    }

    /// The record of ZIP64, wherever its locator stands before the end record: a program that writes to a pipe uses it
    /// also where the numbers in the end record would do. Where bytes were put before the archive libarchive does not
    /// find it either.
    ///
    /// - Parameter index: of the end record in `tail`.
    private static func findLargeEnd(_ file: ArchiveBytes, tail: [UInt8], index: Int) throws -> End? {
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

    /// What the directory says of one entry.
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
