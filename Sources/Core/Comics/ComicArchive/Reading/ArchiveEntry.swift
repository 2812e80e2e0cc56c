import Platform

/// One page of a comic, as the archive names it.
package struct ArchiveEntry: Sendable, Codable, Hashable, Identifiable {
    /// SHA-256 of the entry's path bytes, 64 hexadecimal digits.
    package let id: String
    /// The path's bytes within the archive, escaped as `BytePath` does if they are not UTF-8.
    package let path: String
    package let fileName: String
    /// Bytes after inflating: counted by a validation, or claimed by the header in a bare listing.
    package let uncompressedSize: Int64
    /// From 0, in reading order.
    package let index: Int
    /// The entry's position in the archive, counting every header from 0; the worker finds it by this.
    package let position: Int

    package init(id: String, path: String, fileName: String, uncompressedSize: Int64, index: Int, position: Int) {
        self.id = id
        self.path = path
        self.fileName = fileName
        self.uncompressedSize = uncompressedSize
        self.index = index
        self.position = position
    }
}

extension ArchiveEntry {
    /// - Parameters:
    ///   - size: bytes, counted or claimed; a negative one counts as 0.
    ///   - index: from 0, in reading order.
    package init(header: EntryHeader, size: Int64, index: Int) {
        let path = BytePath(bytes: header.path)
        self.init(
            id: ContentHash(of: header.path).description, path: path.description,
            fileName: BytePath.escape(path.name), uncompressedSize: max(0, size), index: index,
            position: header.position)
    }
}
