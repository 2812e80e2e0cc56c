/// Which file it is, under whatever name. Its inode alone does not tell: that is another file's as soon as it is gone.
package struct FileIdentity: Sendable, Hashable, Codable {
    package let device: UInt64
    package let inode: UInt64
    /// When it was made, in nanoseconds since 1970; nil where nobody knows.
    package let born: Int64?

    package init(device: UInt64, inode: UInt64, born: Int64?) {
        self.device = device
        self.inode = inode
        self.born = born
    }

    /// Whether both are of one file, as far as can be told.
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
    /// Of what has that name; nil where nothing has.
    package func identity() throws -> FileIdentity? {
        guard let status = try status() else { return nil }
        return FileIdentity(device: status.device, inode: status.inode, born: try birth())
    }

    /// Whether what has that name is one of these.
    package func isAny(of known: [FileIdentity]) throws -> Bool {
        guard !known.isEmpty, let found = try identity() else { return false }
        return known.contains { $0.isSame(as: found) }
    }
}
