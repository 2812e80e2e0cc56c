/// One item of a folder being packed. The worker reads a folder as a single stream: for each item this header, followed
/// by its bytes if it is a file.
package struct PackedTreeHeader: Sendable, Equatable {
    /// Its components, separated by `/`.
    package let path: [UInt8]
    package let isFolder: Bool
    /// Seconds since 1970.
    package let modified: Int64
    /// Permission bits.
    package let mode: UInt32
    /// The size of a file in bytes; 0 for a folder.
    package let size: Int64

    package init(path: [UInt8], isFolder: Bool, modified: Int64, mode: UInt32, size: Int64) {
        (self.path, self.isFolder, self.modified, self.mode, self.size) = (path, isFolder, modified, mode, size)
    }

    /// The length of everything but the path.
    package static let fixedLength = 1 + 8 + 4 + 8 + 4
    private static let longest: UInt64 = 65_536

    package var encoded: [UInt8] {
        [isFolder ? 1 : 0] + ArchiveQuestion.bytes(UInt64(bitPattern: modified), 8)
            + ArchiveQuestion.bytes(UInt64(mode), 4) + ArchiveQuestion.bytes(UInt64(size), 8)
            + ArchiveQuestion.bytes(UInt64(path.count), 4) + path
    }

    /// - Parameters:
    ///   - fixed: its first ``fixedLength`` bytes.
    ///   - rest: reads that many further bytes.
    /// - Returns: nil if it is not a header.
    package init?(fixed: [UInt8], rest: (Int) throws -> [UInt8]) rethrows {
        var cursor = ByteCursor(fixed)
        guard let kind = cursor.number(1), kind < 2, let modified = cursor.number(8), let mode = cursor.number(4),
            let size = cursor.number(8).flatMap({ Int64(exactly: $0) }), let length = cursor.number(4),
            (1...Self.longest).contains(length)
        else { return nil }
        let path = try rest(Int(length))
        guard path.count == Int(length), kind == 0 || size == 0 else { return nil }
        self.init(
            path: path, isFolder: kind == 1, modified: Int64(bitPattern: modified), mode: UInt32(mode), size: size)
    }
}
