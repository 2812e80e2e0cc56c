/// Writes the headers of a ZIP (APPNOTE.TXT 4.3); the caller supplies the entries' contents. Deterministic for equal
/// entries. Without ZIP64: up to 65,535 entries and 4 GiB.
package struct ZipWriter: Sendable {
    /// One entry, completely known before its content.
    package struct Entry: Sendable {
        package var name: [UInt8]
        /// ZIP's number of the compression method; 0 means stored.
        package var method: UInt16 = 0
        package var flags: UInt16 = 0
        /// The checksum of the unpacked content.
        package var crc32: UInt32
        /// The content's size in the file, in bytes.
        package var packedSize: UInt32
        package var size: UInt32
        /// Unix file type and permissions; nil to omit them.
        package var mode: UInt16?

        /// A compressed entry.
        package init(
            _ name: [UInt8], method: UInt16, flags: UInt16, crc32: UInt32, packedSize: UInt32, size: UInt32
        ) {
            (self.name, self.method, self.flags) = (name, method, flags)
            (self.crc32, self.packedSize, self.size) = (crc32, packedSize, size)
        }

        /// A stored entry.
        package init(_ name: [UInt8], crc32: UInt32, size: UInt32, mode: UInt16? = nil) {
            self.init(name, method: 0, flags: 0, crc32: crc32, packedSize: size, size: size)
            self.mode = mode
        }
    }

    private var directory: [UInt8] = []
    private var count = 0
    /// The offset of the next header.
    private var offset = 0

    package init() {}

    /// A whole archive of stored files.
    ///
    /// - Parameter files: with ASCII names.
    package static func archive(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var zip = ZipWriter()
        var bytes: [UInt8] = []
        for file in files {
            let size = UInt32(truncatingIfNeeded: file.bytes.count)
            bytes += zip.begin(Entry(Array(file.name.utf8), crc32: CRC32.of(file.bytes), size: size)) + file.bytes
        }
        return bytes + zip.finished()
    }

    /// - Returns: the header before the entry's content, of which `packedSize` bytes must follow.
    package mutating func begin(_ entry: Entry) -> [UInt8] {
        // 2.0 supports folders and Deflate; 6.3 everything.
        let version: UInt16 = entry.method == 0 || entry.method == 8 ? 20 : 63
        // Day zero of DOS, 1980-01-01.
        let fields =
            Self.little(version) + Self.little(entry.flags) + Self.little(entry.method) + [0, 0, 0x21, 0]
            + Self.little(entry.crc32) + Self.little(entry.packedSize) + Self.little(entry.size)
            + Self.little(UInt16(truncatingIfNeeded: entry.name.count)) + [0, 0]
        let unix: UInt16 = entry.mode == nil ? 0 : 3 << 8
        directory += [0x50, 0x4B, 1, 2] + Self.little(unix | version) + fields + [0, 0, 0, 0, 0, 0]
        directory += Self.little(UInt32(entry.mode ?? 0) << 16) + Self.little(UInt32(truncatingIfNeeded: offset))
        directory += entry.name
        let header = [0x50, 0x4B, 3, 4] + fields + entry.name
        offset += header.count + Int(entry.packedSize)
        count += 1
        return header
    }

    /// The records after the last entry's content.
    package func finished() -> [UInt8] {
        let entries = Self.little(UInt16(truncatingIfNeeded: count))
        return directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + entries + entries
            + Self.little(UInt32(truncatingIfNeeded: directory.count)) + Self.little(UInt32(truncatingIfNeeded: offset))
            + [0, 0]
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<(value.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
