import Glibc
import Platform

/// Path lookups for the watcher; inotify watches take paths. The results are hints, like events (law 1): no file is
/// opened, and nothing is believed until it has been reached below its root. All calls block.
enum PathStatus {
    /// lstat(2); nil if there is no such name.
    static func status(_ path: BytePath) throws -> FileStatus? {
        guard let above = try folder(path.parent.isEmpty ? "/" : path.parent) else { return nil }
        if path.name.isEmpty { return try above.status() }
        return try above[path.name].status()
    }

    /// The folder at a path: its status, and a descriptor open for reading if permitted. nil if there is no folder, or
    /// a link is on the way.
    static func look(_ path: BytePath) throws -> (status: FileStatus, folder: Descriptor?)? {
        do {
            return try Folder.withoutLinks(path).map { (try $0.status(), $0) }
        } catch {
            guard let status = try status(path), status.kind == .directory else { return nil }
            return (status, nil)
        }
    }

    /// The target of a symbolic link; nil if there is no link of that name.
    static func target(ofLink path: BytePath) -> BytePath? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = path.withCString { readlink($0, &bytes, bytes.count) }
        return count > 0 ? BytePath(bytes: bytes[..<count].map { UInt8(bitPattern: $0) }) : nil
    }

    /// The names in a folder; a link does not count as one.
    static func entries(_ path: BytePath) throws -> [ListedEntry] { try Folder(opened(path)).entries() }

    static func opened(_ path: BytePath) throws -> Descriptor {
        let raw = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) }
        guard raw >= 0 else { throw Fault.system("open the folder", path) }
        return Descriptor(owning: raw, path: path)
    }

    private static func folder(_ path: BytePath) throws -> Folder? {
        do {
            return try FolderIdentity.open(path).map(Folder.init)
        } catch let fault as Fault where fault.errno == ELOOP {
            return nil
        }
    }

    /// One of the kernel's files, open for reading; nil if /proc is not mounted.
    static func kernelFile(_ path: String) -> Descriptor? {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        return raw >= 0 ? Descriptor(owning: raw, path: BytePath(path)) : nil
    }
}
