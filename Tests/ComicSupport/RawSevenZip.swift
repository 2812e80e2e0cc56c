/// A 7z with one block of copied bytes, written field by field, so that each field can lie.
package struct RawSevenZip: Sendable {
    package struct Entry: Sendable {
        /// UTF-16 units.
        package var name: [UInt16]
        package var bytes: [UInt8]
        /// Unix kind and permissions.
        package var mode = 0o100_644
        /// The size in its header, if that is not the real one.
        package var claimed: UInt64?

        package init(_ name: String, _ bytes: [UInt8], mode: Int = 0o100_644) {
            (self.name, self.bytes, self.mode) = (Array(name.utf16), bytes, mode)
        }
    }

    package var entries: [Entry]
    /// The number of files in the header.
    package var count: UInt64?
    /// The sizes of the packed stream and of its output, according to the header.
    package var packedSize: UInt64?
    package var unpackedSize: UInt64?
    package var hasChecksums = true
    /// The number of a filter applied to the copied bytes: 10 for ARM64 code, 11 for RISC-V.
    package var filter: UInt8?
    /// The number of blocks in the header.
    package var blocks: UInt64 = 1

    package init(_ entries: [Entry]) { self.entries = entries }

    package var bytes: [UInt8] {
        let data = entries.flatMap(\.bytes)
        let header = header(UInt64(data.count))
        let start = little(data.count, 8) + little(header.count, 8) + little(checksum(header), 4)
        return [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C, 0, 4] + little(checksum(start), 4) + start + data + header
    }

    private func header(_ size: UInt64) -> [UInt8] {
        let sizes = entries.map { $0.claimed ?? UInt64($0.bytes.count) }
        var out: [UInt8] = [1, 4]
        out += [6] + Self.number(0) + Self.number(1) + [9] + Self.number(packedSize ?? size) + [0]
        // The filter reads the copier's output.
        out += [7, 0x0B] + Self.number(blocks) + [0] + (filter.map { [2, 1, 0, 1, $0, 1, 0] } ?? [1, 1, 0])
        out += [0x0C] + Self.number(unpackedSize ?? size) + (filter.map { _ in Self.number(size) } ?? []) + [0]
        out += [8, 0x0D] + Self.number(UInt64(entries.count)) + (entries.count > 1 ? [9] : [])
        out += sizes.dropLast().flatMap { Self.number($0) }
        if hasChecksums { out += [0x0A, 1] + entries.flatMap { little(checksum($0.bytes), 4) } }
        out += [0, 0]
        let names: [UInt8] = entries.reduce(into: [0]) { names, entry in
            for unit in entry.name + [0] { names += little(unit, 2) }
        }
        let modes: [UInt8] = entries.reduce(into: [1, 0]) { $0 += little(0x8000 | $1.mode << 16, 4) }
        out += [5] + Self.number(count ?? UInt64(entries.count))
        out += [0x11] + Self.number(UInt64(names.count)) + names
        out += [0x15] + Self.number(UInt64(modes.count)) + modes
        return out + [0, 0]
    }

    /// 7z's variable-length number: the number of leading one bits in the first byte is the number of bytes that
    /// follow.
    package static func number(_ value: UInt64) -> [UInt8] {
        for extra in 0..<8 where value < 1 << UInt64(7 * (extra + 1)) {
            let first = extra == 0 ? 0 : 0xFF << (8 - extra) & 0xFF
            return [UInt8(first) | UInt8(value >> UInt64(8 * extra))] + little(value, extra)
        }
        return [0xFF] + little(value, 8)
    }
}
