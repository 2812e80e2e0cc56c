import Glibc

/// Distinguishes versions of a file without reading it (docs/design/events.md).
package struct Fingerprint: Hashable, Sendable, Codable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970; times before 1678 or after 2261 are clamped.
    package var modified: Int64
    /// Nanoseconds since 1970; unlike `modified`, no program can set it.
    package var changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

/// stat(2) of one file.
package struct FileStatus: Sendable {
    package enum Kind: Sendable { case file, directory, link, other }

    package let kind: Kind
    package let fingerprint: Fingerprint
    package let mode: mode_t
    package let owner: uid_t
    package let group: gid_t
    package let links: Int
    /// When it was last read, in nanoseconds like ``Fingerprint/modified``, as far as its file system records that.
    package let accessed: Int64
    /// Bytes allocated on disk; less than the size for a sparse file.
    package let allocated: Int64

    package var size: Int64 { fingerprint.size }
    package var inode: UInt64 { fingerprint.inode }
    package var device: UInt64 { fingerprint.device }

    init(_ found: stat) {
        kind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        fingerprint = Fingerprint(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int64(found.st_size),
            modified: Self.nanoseconds(found.st_mtim), changed: Self.nanoseconds(found.st_ctim))
        mode = found.st_mode & 0o7777
        owner = found.st_uid
        group = found.st_gid
        links = Int(found.st_nlink)
        accessed = Self.nanoseconds(found.st_atim)
        allocated = Int64(found.st_blocks) * 512
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (whole, isFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(Int64(time.tv_nsec))
        return isFar || isTooFar ? (time.tv_sec < 0 ? .min : .max) : sum
    }

    /// Whether both belong to the same file, whatever happened to it in between.
    package func isSameFile(as other: FileStatus) -> Bool { inode == other.inode && device == other.device }

    /// lstat(2) below an open folder, independent of the folder's current path; nil if there is no such name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package static func of(_ path: BytePath, below folder: Descriptor) throws -> FileStatus? {
        try path.withCString { try of($0, in: folder.raw) { folder.path.appending(path) } }
    }

    /// The same for a name in the folder with this descriptor; `path` is for the message.
    static func of(
        _ name: UnsafePointer<CChar>, in folder: Int32, path: () -> BytePath
    ) throws -> FileStatus? {
        Blocking.call()
        var found = stat()
        if fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(found) }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return nil }
        throw Fault.system("read the status of", path(), errno: code)
    }
}
