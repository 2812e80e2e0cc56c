import CLinux
import Glibc

/// Walks to a folder by path, one name at a time, following only links owned by root or the agent's own user. Blocks.
enum TrustedPath {
    private static let mostLinks = 40

    /// - Throws: `Fault`: ELOOP if a link of another user is on the way, otherwise with the errno of open(2).
    static func folder(_ path: BytePath) throws -> Descriptor {
        // Without links on the way, there are no owners to check.
        let raw = path.withCString(steward_find_folder)
        return raw >= 0 ? Descriptor(owning: raw, path: path) : try walk(path)
    }

    private static func walk(_ path: BytePath) throws -> Descriptor {
        var here = try open(path.isAbsolute ? "/" : ".", at: AT_FDCWD, path)
        var names = path.components.map(Array.init)
        names.reverse()
        var links = 0
        while let name = names.popLast() {
            let next = try open(BytePath(bytes: name), at: here.raw, path)
            let status = try next.status()
            guard status.kind == .link else {
                here = next
                continue
            }
            links += 1
            guard links <= mostLinks, status.owner == 0 || status.owner == geteuid() else {
                throw Fault.system("follow a link on the way to", path, errno: ELOOP)
            }
            let target = try self.target(of: next, path)
            if target.isAbsolute { here = try open("/", at: AT_FDCWD, path) }
            names += target.components.map(Array.init).reversed()
        }
        guard try here.status().kind == .directory else { throw Fault.system("open", path, errno: ENOTDIR) }
        return Descriptor(owning: try duplicate(here, path), path: path)
    }

    private static func open(_ name: BytePath, at folder: Int32, _ path: BytePath) throws -> Descriptor {
        Blocking.call()
        let raw = name.withCString { openat(folder, $0, pathOnly | O_NOFOLLOW | O_CLOEXEC) }
        guard raw >= 0 else { throw Fault.system("open", path) }
        return Descriptor(owning: raw, path: path)
    }

    private static func target(of link: Descriptor, _ path: BytePath) throws -> BytePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlinkat(link.raw, "", &buffer, buffer.count)
        guard length > 0 else { throw Fault.system("read a link on the way to", path) }
        return BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) })
    }

    /// The walk closes its own descriptor.
    private static func duplicate(_ folder: Descriptor, _ path: BytePath) throws -> Int32 {
        let copy = fcntl(folder.raw, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Fault.system("open", path) }
        return copy
    }
}
