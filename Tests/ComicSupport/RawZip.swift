/// A ZIP written field by field, so that each field can lie.
package struct RawZip: Sendable {
    /// The content of one of the three fields that give an entry's size.
    package struct Claim: Sendable {
        package var crc: UInt32
        package var packed: UInt64
        package var size: UInt64

        package init(crc: UInt32, packed: UInt64, size: UInt64) {
            (self.crc, self.packed, self.size) = (crc, packed, size)
        }
    }

    package struct Entry: Sendable {
        package var name: [UInt8]
        /// The name in the local header, if different.
        package var localName: [UInt8]?
        /// As stored in the file: packed if `method` is not 0.
        package var data: [UInt8]
        package var method: Int
        package var truth: Claim
        package var local: Claim?
        package var central: Claim?
        /// After the data, with the flag that announces it.
        package var descriptor: Claim?
        package var flags = 0
        /// Unix kind and permissions.
        package var mode = 0o100_644
        /// Its offset according to the directory.
        package var offset: UInt64?
        /// Sizes and offset are in ZIP64 fields.
        package var isLarge = false

        /// Stored.
        package init(_ name: String, _ bytes: [UInt8]) { self.init(Array(name.utf8), bytes) }

        package init(_ name: [UInt8], _ bytes: [UInt8]) {
            (self.name, data, method) = (name, bytes, 0)
            truth = Claim(crc: checksum(bytes), packed: UInt64(bytes.count), size: UInt64(bytes.count))
        }

        package init(deflating name: String, _ bytes: [UInt8]) throws {
            (self.name, data, method) = (Array(name.utf8), try deflated(bytes), 8)
            truth = Claim(crc: checksum(bytes), packed: UInt64(data.count), size: UInt64(bytes.count))
        }

        /// The head of a picture and `1 + 258 × runs` zeros, deflated to a 160th of that.
        package init(zeros name: String, runs: Int) {
            let head = picture(0, size: 33)
            let (stream, count) = deflatedZeros(runs: runs)
            (self.name, method) = (Array(name.utf8), 8)
            data = [0] + little(head.count, 2) + little(~head.count, 2) + head + stream
            let sum = checksum(checksum(head), then: checksumOfZeros(count), length: count)
            truth = Claim(crc: sum, packed: UInt64(data.count), size: UInt64(head.count + count))
        }
    }

    package var entries: [Entry]
    package var front: [UInt8] = []
    /// Between the directory and its end record.
    package var middle: [UInt8] = []
    package var tail: [UInt8] = []
    package var comment: [UInt8] = []
    /// The number of entries in the end record.
    package var count: Int?
    /// The volume number in the end record.
    package var disk = 0
    /// The end record is a ZIP64 one.
    package var isLarge = false
    /// Offsets count from the end of `front`, as when it was prepended to a finished archive.
    package var isShifted = false

    package init(_ entries: [Entry]) { self.entries = entries }

    package var bytes: [UInt8] {
        var out = front
        var directory: [UInt8] = []
        for entry in entries {
            let place = UInt64(out.count) - (isShifted ? UInt64(front.count) : 0)
            out += Self.localHeader(entry) + entry.data
            if let claim = entry.descriptor {
                out += little(0x0807_4B50, 4) + little(claim.crc, 4)
                out += little(claim.packed, entry.isLarge ? 8 : 4) + little(claim.size, entry.isLarge ? 8 : 4)
            }
            directory += Self.centralHeader(entry, at: entry.offset ?? place)
        }
        let start = out.count - (isShifted ? front.count : 0)
        out += directory + middle
        let number = count ?? entries.count
        if isLarge {
            let place = out.count - (isShifted ? front.count : 0)
            out += little(0x0606_4B50, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8)
            out += little(number, 8) + little(number, 8) + little(directory.count, 8) + little(start, 8)
            out += little(0x0706_4B50, 4) + little(0, 4) + little(place, 8) + little(1, 4)
        }
        let large = isLarge ? 0xFFFF_FFFF : nil
        out += little(0x0605_4B50, 4) + little(disk, 2) + little(disk, 2) + little(isLarge ? 0xFFFF : number, 2)
        out += little(isLarge ? 0xFFFF : number, 2) + little(large ?? directory.count, 4) + little(large ?? start, 4)
        return out + little(comment.count, 2) + comment + tail
    }

    private static func flags(_ entry: Entry) -> Int { entry.flags | (entry.descriptor == nil ? 0 : 8) }

    package static func localHeader(_ entry: Entry) -> [UInt8] {
        let none = Claim(crc: 0, packed: 0, size: 0)
        let claim = entry.local ?? (entry.descriptor == nil ? entry.truth : none)
        let name = entry.localName ?? entry.name
        let extra = entry.isLarge ? little(1, 2) + little(16, 2) + little(claim.size, 8) + little(claim.packed, 8) : []
        return little(0x0403_4B50, 4) + little(entry.isLarge ? 45 : 20, 2) + little(flags(entry), 2)
            + little(entry.method, 2) + little(0, 4) + little(claim.crc, 4)
            + little(entry.isLarge ? 0xFFFF_FFFF : claim.packed, 4)
            + little(entry.isLarge ? 0xFFFF_FFFF : claim.size, 4)
            + little(name.count, 2) + little(extra.count, 2) + name + extra
    }

    package static func centralHeader(_ entry: Entry, at place: UInt64) -> [UInt8] {
        let claim = entry.central ?? entry.truth
        let large = little(claim.size, 8) + little(claim.packed, 8) + little(place, 8)
        let extra = entry.isLarge ? little(1, 2) + little(24, 2) + large : []
        return little(0x0201_4B50, 4) + little(3 << 8 | 45, 2) + little(entry.isLarge ? 45 : 20, 2)
            + little(flags(entry), 2) + little(entry.method, 2) + little(0, 4) + little(claim.crc, 4)
            + little(entry.isLarge ? 0xFFFF_FFFF : claim.packed, 4)
            + little(entry.isLarge ? 0xFFFF_FFFF : claim.size, 4)
            + little(entry.name.count, 2) + little(extra.count, 2) + little(0, 6) + little(entry.mode << 16, 4)
            + little(entry.isLarge ? 0xFFFF_FFFF : place, 4) + entry.name + extra
    }
}
