import CLinux
import Glibc

/// Lets root work on another user's files with only that user's permissions: by placing links and folders in root's
/// way, one cannot make it do anything one could not do oneself. Every call blocks.
package struct FileRights: Sendable {
    private let user: uid_t
    private let group: gid_t

    /// The permissions of a file's owner.
    package init(ofOwner status: FileStatus) { (user, group) = (status.owner, status.group) }

    /// The permissions of the user who controls a path: the owner of the first folder or link on the way that is not root's.
    /// nil if only root controls it, or this process is not root and has no choice.
    package init?(at path: BytePath) throws {
        guard geteuid() == 0, let found = try Self.first(on: path) else { return nil }
        (user, group) = (found.st_uid, found.st_gid)
    }

    private static func first(on path: BytePath) throws -> stat? {
        var here: BytePath = path.isAbsolute ? "/" : ""
        var names = Array(path.components.map(Array.init).reversed())
        var links = 0
        while let name = names.popLast() {
            let next = here.appending(name: name)
            guard let found = try status(next) else { return nil }
            if found.st_uid != 0 { return found }
            guard found.st_mode & S_IFMT == S_IFLNK else {
                here = next
                continue
            }
            links += 1
            guard links <= 40, let target = target(of: next) else {
                throw Fault.system("follow a link on the way to", path, errno: ELOOP)
            }
            if target.isAbsolute { here = "/" }
            names += target.components.map(Array.init).reversed()
        }
        return nil
    }

    /// nil if there is no such name.
    private static func status(_ path: BytePath) throws -> stat? {
        Blocking.call()
        var found = stat()
        if path.withCString({ lstat($0, &found) }) == 0 { return found }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw Fault.system("read the status of", path)
    }

    private static func target(of link: BytePath) -> BytePath? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = link.withCString { readlink($0, &buffer, buffer.count) }
        return length > 0 ? BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) }) : nil
    }

    /// Runs `body` with these permissions; files it creates belong to the user. Affects only this thread; must not be
    /// nested.
    package func use<R>(_ body: () throws -> R) throws -> R {
        Blocking.call()
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = max(0, getgroups(Int32(groups.count), &groups))
        defer { _ = steward_use_files_as(geteuid(), getegid(), groups, Int(count)) }
        guard steward_use_files_as(user, group, [group], 1) == 0 else {
            throw Fault.system("act with the rights of the user \(user)")
        }
        return try body()
    }

    /// Whether a file belongs to this user.
    package func own(_ status: FileStatus) -> Bool { status.owner == user }
}
