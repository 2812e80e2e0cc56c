import Glibc

/// What tells one version of a file from another without reading it (design section 2, "Fingerprint").
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
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (whole, isFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(Int64(time.tv_nsec))
        return isFar || isTooFar ? (time.tv_sec < 0 ? .min : .max) : sum
    }

    /// lstat(2); nil where nothing has that name.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package static func of(_ path: BytePath) throws -> FileStatus? {
        var found = stat()
        if path.withCString({ lstat($0, &found) }) == 0 { return FileStatus(found) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw Fault.system("read the status of", path)
    }

    /// The same for a name below an open folder, whatever stands at that folder's path by now.
    package static func of(_ path: BytePath, below folder: Descriptor) throws -> FileStatus? {
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

/// The names in `path`, in the directory's own order, without `.` and `..`. Symbolic links are not followed.
///
/// - Throws: `Fault` with the errno of open(2) or readdir(3).
package func listDirectory(_ path: BytePath) throws -> [DirectoryEntry] {
    let raw = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) }
    guard raw >= 0 else { throw Fault.system("open the folder", path) }
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
