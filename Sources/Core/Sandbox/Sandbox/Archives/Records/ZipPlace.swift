/// Where a page's packed bytes are in a ZIP: enough to read the page without the rest of the archive.
package struct ZipPlace: Sendable, Codable, Hashable {
    /// The offset in the file of the first packed byte.
    package let offset: Int64
    /// The packed size in bytes.
    package let size: Int64
    /// ZIP's number of the compression method; 0 means stored.
    package let method: UInt16
    package let flags: UInt16
    /// The page's checksum.
    package let crc32: UInt32

    package init(offset: Int64, size: Int64, method: UInt16, flags: UInt16, crc32: UInt32) {
        (self.offset, self.size, self.method, self.flags, self.crc32) = (offset, size, method, flags, crc32)
    }
}
