/// RAR 4 and 5 archives of stored entries, written field by field, because no free program writes them.
package struct RawRar: Sendable {
    /// The target of a RAR 5 entry that has no bytes.
    package enum Redirection: Int, Sendable { case unixLink = 1, windowsLink, junction, hardLink, copy }

    package struct Entry: Sendable {
        package var name: [UInt8]
        package var bytes: [UInt8]
        package var crc: UInt32?
        package var size: UInt64
        package var mode = 0o100_644
        package var redirection: (kind: Redirection, target: String)?
        package var isSplit = false
        package var isEncrypted = false
        /// In a RAR 4 entry: compressed with the state of the previous ones.
        package var isSolid = false
        /// In a RAR 4 entry: according to the flags, whatever the mode.
        package var isFolder = false
        /// In a RAR 4 entry: the name has its Unicode form after a zero.
        package var isUnicode = false
        /// How a RAR 4 header describes the compression: the version that unpacks it, and the method.
        package var packing: [UInt8] = [20, 0x30]
        /// How a RAR 5 header describes it: version, method and size of the dictionary.
        package var compression: UInt64 = 0

        package init(_ name: String, _ bytes: [UInt8] = [], mode: Int = 0o100_644) {
            self.init(Array(name.utf8), bytes, mode: mode)
        }

        package init(_ name: [UInt8], _ bytes: [UInt8] = [], mode: Int = 0o100_644) {
            (self.name, self.bytes, self.mode) = (name, bytes, mode)
            (crc, size) = (checksum(bytes), UInt64(bytes.count))
        }

        package init(_ name: String, _ kind: Redirection, _ target: String) {
            self.init(name)
            redirection = (kind, target)
        }
    }

    package var entries: [Entry]
    package var isVolume = false
    package var isSolid = false
    /// The block that ends it.
    package var hasEnd = true

    package init(_ entries: [Entry]) { self.entries = entries }

    /// A solid one of pages `1.png`, `2.png` and so on, which are stored nevertheless.
    package init(solid pages: [[UInt8]]) {
        self.init(pages.enumerated().map { Entry("\($0 + 1).png", $1) })
        isSolid = true
        for index in entries.indices.dropFirst() { entries[index].isSolid = true }
    }

    // MARK: RAR 4

    package var four: [UInt8] { blocksOfFour.flatMap { $0 } }

    /// Where each block begins and where the last one ends.
    package var edgesOfFour: [Int] { blocksOfFour.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) } }

    private var blocksOfFour: [[UInt8]] {
        func block(_ type: UInt8, _ flags: Int, _ fields: [UInt8]) -> [UInt8] {
            let body = [type] + little(flags, 2) + little(7 + fields.count, 2) + fields
            return little(checksum(body) & 0xFFFF, 2) + body
        }
        let flags = (isVolume ? 1 : 0) | (isSolid ? 8 : 0)
        var blocks: [[UInt8]] = [[0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x00], block(0x73, flags, [0, 0, 0, 0, 0, 0])]
        for entry in entries {
            let fields =
                little(entry.bytes.count, 4) + little(entry.size, 4) + [3] + little(entry.crc ?? 0, 4)
                + little(0x5A21_0000, 4) + entry.packing + little(entry.name.count, 2) + little(entry.mode, 4)
            let flags =
                0x8000 | (entry.isSplit ? 2 : 0) | (entry.isEncrypted ? 4 : 0) | (entry.isSolid ? 16 : 0)
                | (entry.isFolder ? 0xE0 : 0) | (entry.isUnicode ? 0x200 : 0)
            blocks.append(block(0x74, flags, fields + entry.name) + entry.bytes)
        }
        return blocks + (hasEnd ? [block(0x7B, 0x4000, [])] : [])
    }

    // MARK: RAR 5

    package var five: [UInt8] { blocksOfFive.flatMap { $0 } }

    /// Where each block begins and where the last one ends.
    package var edgesOfFive: [Int] { blocksOfFive.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) } }

    private var blocksOfFive: [[UInt8]] {
        func number(_ value: UInt64) -> [UInt8] {
            value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128)] + number(value >> 7)
        }
        func block(_ fields: [UInt8]) -> [UInt8] {
            let body = number(UInt64(fields.count)) + fields
            return little(checksum(body), 4) + body
        }
        let flags = UInt8((isVolume ? 1 : 0) | (isSolid ? 4 : 0))
        var blocks: [[UInt8]] = [[0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x01, 0x00], block([1, 0, flags])]
        for entry in entries {
            var extra: [UInt8] = []
            if let (kind, target) = entry.redirection {
                let record = [5, UInt8(kind.rawValue), 0] + number(UInt64(target.utf8.count)) + Array(target.utf8)
                extra += number(UInt64(record.count)) + record
            }
            if entry.isEncrypted {
                let record = [1, 0, 0, 15] + [UInt8](repeating: 7, count: 32)
                extra += number(UInt64(record.count)) + record
            }
            let common = [2, UInt8(2 | (extra.isEmpty ? 0 : 1) | (entry.isSplit ? 16 : 0))]
            let lengths = (extra.isEmpty ? [] : number(UInt64(extra.count))) + number(UInt64(entry.bytes.count))
            let file =
                [entry.crc == nil ? 0 : 4] + number(entry.size) + number(UInt64(entry.mode))
                + (entry.crc.map { little($0, 4) } ?? []) + number(entry.compression) + [1]
            let name = number(UInt64(entry.name.count)) + entry.name
            blocks.append(block(common + lengths + file + name + extra) + entry.bytes)
        }
        return blocks + (hasEnd ? [block([5, 0, 0])] : [])
    }
}

/// A RAR 4 archive of stored entries `1.png`, `2.png` and so on.
package func storedRar4(_ pages: [[UInt8]]) -> [UInt8] {
    RawRar(pages.enumerated().map { RawRar.Entry("\($0 + 1).png", $1) }).four
}

/// A RAR 5 archive of stored entries `1.png`, `2.png` and so on.
package func storedRar5(_ pages: [[UInt8]]) -> [UInt8] {
    RawRar(pages.enumerated().map { RawRar.Entry("\($0 + 1).png", $1) }).five
}
