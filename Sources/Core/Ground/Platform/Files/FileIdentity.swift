/// Identifies a file under any name. An inode alone does not, because it is reused once the file is gone.
package struct FileIdentity: Sendable, Hashable, Codable {
    package let device: UInt64
    package let inode: UInt64
    /// When it was created, in nanoseconds since 1970; nil if unknown.
    package let born: Int64?

    package init(device: UInt64, inode: UInt64, born: Int64?) {
        self.device = device
        self.inode = inode
        self.born = born
    }

    /// Whether both belong to the same file, as far as is known.
    package func isSame(as other: FileIdentity) -> Bool {
        inode == other.inode && device == other.device && (born == nil || other.born == nil || born == other.born)
    }
}

extension Descriptor {
    package func identity() throws -> FileIdentity {
        let status = try status()
        return FileIdentity(device: status.device, inode: status.inode, born: try birth())
    }
}

extension DirectoryEntry {
    /// The identity of the file with that name; nil if there is none.
    package func identity() throws -> FileIdentity? {
        guard let status = try status() else { return nil }
        return FileIdentity(device: status.device, inode: status.inode, born: try birth())
    }

    /// Whether the file with that name is one of these.
    package func isAny(of known: [FileIdentity]) throws -> Bool {
        guard !known.isEmpty, let found = try identity() else { return false }
        return known.contains { $0.isSame(as: found) }
    }
}
