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

    package init(offset: Int64, size: Int64, method: UInt16, flags: UInt16, crc32: UInt32) {
        (self.offset, self.size, self.method, self.flags, self.crc32) = (offset, size, method, flags, crc32)
    }
}
