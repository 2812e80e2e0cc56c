import Platform

extension ZipPlace {
    /// The page, in memory. Blocks while a process unpacks it, unless it is stored.
    ///
    /// - Parameters:
    ///   - packed: the packed bytes at this place.
    ///   - count: the size of the page in bytes.
    ///   - worker: called only if the page is not stored.
    /// - Returns: nil if size or checksum do not match: read it from the whole archive, which then reports the problem.
    /// - Throws: `Fault` for a problem of the machine.
    package func unpack(
        _ packed: [UInt8], to count: Int64, with worker: () throws -> ArchiveWorker
    ) throws -> [UInt8]? {
        guard packed.count == size, (0...ArchiveLimits.maxUncompressedEntrySize).contains(count) else { return nil }
        if method == 0 {
            return count == size && CRC32.of(packed) == crc32 ? packed : nil
        }
        // The process compares the checksum. Larger sizes need ZIP64, and no page is that large.
        guard size <= ArchiveLimits.maxUncompressedEntrySize else { return nil }
        // Bits 1 and 2 belong to the method. The bits for a data descriptor and for UTF-8 names no longer apply.
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
