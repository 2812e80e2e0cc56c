import CLinux
import Platform

/// Where a page's packed bytes stand in a ZIP: enough to have the page without the rest of the archive.
package struct ZipPlace: Sendable, Codable, Hashable {
    /// Of the first packed byte, in the file.
    package let offset: Int64
    /// Bytes, packed.
    package let size: Int64
    /// How it is packed, by ZIP's own numbers; 0 is stored.
    package let method: UInt16
    package let flags: UInt16
    /// Of the page.
    package let crc32: UInt32

    /// The page, in memory. Blocks, while a process unpacks it where it is not stored.
    ///
    /// - Parameters:
    ///   - packed: what stands there.
    ///   - count: bytes that the page has.
    ///   - worker: asked for only where the page is not stored.
    /// - Returns: nil where size or checksum are not the page's: it is to be had from the whole archive, which then tells
    ///   what is wrong.
    /// - Throws: `Fault` where the machine is at fault.
    package func unpack(
        _ packed: [UInt8], to count: Int64, with worker: () throws -> ArchiveWorker
    ) throws -> [UInt8]? {
        guard packed.count == size, (0...ArchiveLimits.maxUncompressedEntrySize).contains(count) else { return nil }
        if method == 0 {
            var sum = CRC32()
            packed.withUnsafeBytes { sum.update($0) }
            return count == size && sum.value == crc32 ? packed : nil
        }
        // The process compares the checksum; sizes above need another form of ZIP, and no page has them.
        guard size <= ArchiveLimits.maxUncompressedEntrySize else { return nil }
        let raw = steward_memory_file("page")
        guard raw >= 0 else { throw Fault.system("make a file in memory") }
        let file = Descriptor(owning: raw, path: "a page in memory")
        let (head, tail) = ends(of: UInt32(count))
        try file.write(head, at: 0)
        try file.write(packed, at: Int64(head.count))
        try file.write(tail, at: Int64(head.count) + size)
        guard let page = try worker().contents(.file(file), [0], limit: Int(count))[0], page.count == count else {
            return nil
        }
        return page
    }

    /// What stands before and after the packed bytes in a ZIP of this one entry (APPNOTE.TXT 4.3).
    private func ends(of count: UInt32) -> (head: [UInt8], tail: [UInt8]) {
        func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        }
        let name = Array("page".utf8)
        // Bits 1 and 2 belong to the method; that a descriptor follows, and that the name is UTF-8, is true no more.
        let common =
            bytes(UInt64(flags & 6), 2) + bytes(UInt64(method), 2) + bytes(0, 4) + bytes(UInt64(crc32), 4)
            + bytes(UInt64(size), 4) + bytes(UInt64(count), 4) + bytes(UInt64(name.count), 2) + bytes(0, 2)
        let head = bytes(0x0403_4B50, 4) + bytes(63, 2) + common + name
        let listed = bytes(0x0201_4B50, 4) + bytes(63, 2) + bytes(63, 2) + common + bytes(0, 14) + name
        let end =
            bytes(0x0605_4B50, 4) + bytes(0, 4) + bytes(1, 2) + bytes(1, 2) + bytes(UInt64(listed.count), 4)
            + bytes(UInt64(head.count) + UInt64(size), 4) + bytes(0, 2)
        return (head, listed + end)
    }
}
