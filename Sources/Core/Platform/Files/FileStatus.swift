import Glibc

/// What tells one version of a file from another without reading it (docs/design/events.md).
package struct Fingerprint: Hashable, Sendable, Codable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970; a time before 1678 or after 2261 is the first or last that can be told so.
    package var modified: Int64
    /// Nanoseconds since 1970; unlike `modified` no program can set it.
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
    /// Bytes that it takes on the disk; of a file with holes less than its size.
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
        allocated = Int64(found.st_blocks) * 512
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (whole, isFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(Int64(time.tv_nsec))
        return isFar || isTooFar ? (time.tv_sec < 0 ? .min : .max) : sum
    }

    /// Whether both are of one file, whatever has happened to it between them.
    package func isSameFile(as other: FileStatus) -> Bool { inode == other.inode && device == other.device }

    /// lstat(2) of what lies below an open folder, whatever stands at that folder's path by now; nil where nothing has
    /// that name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package static func of(_ path: BytePath, below folder: Descriptor) throws -> FileStatus? {
        Blocking.call()
        var found = stat()
        if path.withCString({ fstatat(folder.raw, $0, &found, AT_SYMLINK_NOFOLLOW) }) == 0 { return FileStatus(found) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw Fault.system("read the status of", folder.path.appending(path))
    }
}

/// One name in a directory.
package struct DirectoryEntry: Sendable {
    package let name: [UInt8]
    /// From d_type: true, false, or nil where the file system does not say.
    package let isDirectory: Bool?
}

/// The names in an open folder, in its own order, without `.` and `..`.
///
/// - Throws: `Fault` with the errno of readdir(3).
func listDirectory(_ folder: Descriptor) throws -> [DirectoryEntry] {
    Blocking.call()
    let path = folder.path
    // The stream closes what it reads from.
    let raw = fcntl(folder.raw, F_DUPFD_CLOEXEC, 0)
    guard raw >= 0 else { throw Fault.system("read the folder", path) }
    guard let stream = fdopendir(raw) else {
        close(raw)
        throw Fault.system("read the folder", path)
    }
    defer { closedir(stream) }
    var entries: [DirectoryEntry] = []
    while true {
        errno = 0
        guard let entry = readdir(stream) else {
            if errno != 0 { throw Fault.system("read the folder", path) }
            return entries
        }
        let length = strlen(pointer(to: &entry.pointee.d_name))
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix(length)) }
        if name == [UInt8(ascii: ".")] || name == Array("..".utf8) { continue }
        let type = Int32(entry.pointee.d_type)
        entries.append(
            DirectoryEntry(name: name, isDirectory: type == Int32(DT_UNKNOWN) ? nil : type == Int32(DT_DIR)))
    }
}

private func pointer<T>(to value: UnsafeMutablePointer<T>) -> UnsafePointer<CChar> {
    UnsafeRawPointer(value).assumingMemoryBound(to: CChar.self)
}
