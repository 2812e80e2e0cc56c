import Platform

/// The block headers of RAR 1.5 to 4.
package enum Rar4Headers {
    package static let signature = ArchiveFormat.rarMark + [0x00]

    /// Whether an archive is solid, judged by its first header; false if it is encrypted or one of several volumes.
    ///
    /// - Parameter head: the archive's first bytes.
    package static func isSolid(_ head: [UInt8]) -> Bool {
        var cursor = ByteCursor(head, at: signature.count)
        guard head.starts(with: signature), cursor.skip(2), cursor.number(1) == 0x73, let flags = cursor.number(2)
        else {
            return false
        }
        return flags & 0x0089 == 0x0008
    }
}

/// The block headers of RAR 5.
package enum Rar5Headers {
    package static let signature = ArchiveFormat.rar5Mark
}
