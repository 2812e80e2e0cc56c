import Platform

extension ZipPlace {
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
            return count == size && CRC32.of(packed) == crc32 ? packed : nil
        }
        // The process compares the checksum; sizes above need another form of ZIP, and no page has them.
        guard size <= ArchiveLimits.maxUncompressedEntrySize else { return nil }
        // Bits 1 and 2 belong to the method; that a descriptor follows, and that the name is UTF-8, is true no more.
        var zip = ZipWriter()
        let head = zip.begin(
            ZipWriter.Entry(
                Array("page".utf8), method: method, flags: flags & 6, crc32: crc32, packedSize: UInt32(size),
                size: UInt32(count)))
        let file = try Descriptor(inMemory: "a page in memory")
        try file.write(head, at: 0)
        try file.write(packed, at: Int64(head.count))
        try file.write(zip.finished(), at: Int64(head.count) + size)
        guard let page = try worker().contents(.file(file), [0], limit: Int(count))[0], page.count == count else {
            return nil
        }
        return page
    }
}
