import CLinux
import Glibc
import Platform

/// Whether a file system reports all its changes to inotify.
package enum FileSystemKind {
    /// The name of the remote or foreign file system that holds `path`, such as NFS; nil for a local one. Blocks.
    package static func remoteName(_ path: BytePath) -> String? {
        reasonToPoll(path).map { String($0.prefix { $0 != " " }) }
    }

    /// Why to poll, as text for a person; nil for a file system that sends events. Blocks.
    static func reasonToPoll(_ path: BytePath) -> String? {
        var found = statfs()
        guard path.withCString({ statfs($0, &found) }) == 0 else { return nil }
        let name: String
        switch UInt32(truncatingIfNeeded: found.f_type) {
        case 0x6969: name = "NFS"
        case 0xFE53_4D42: name = "SMB"
        case 0xFF53_4D42: name = "CIFS"
        case 0x0102_1997: name = "9p"
        case 0x6573_5546: name = "FUSE"
        case 0x00C3_6400: name = "Ceph"
        case 0x5346_414F, 0x6B41_4653: name = "AFS"
        case 0x0BD0_0BD0: name = "Lustre"
        case 0x786F_4256: name = "vboxsf"
        default: return nil
        }
        return "\(name) sends no events for changes made elsewhere"
    }

    /// Why to poll, judged from the type in /proc/self/mountinfo: statfs(2) may never return if a server does not
    /// answer.
    static func reasonToPoll(type: String) -> String? {
        let remote: Set<String> = [
            "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse", "fuseblk", "virtiofs", "ceph", "afs", "lustre",
            "vboxsf",
            "autofs",
        ]
        guard remote.contains(type) || type.hasPrefix("fuse.") else { return nil }
        return "\(type) sends no events for changes made elsewhere"
    }
}

/// Finds folders without subfolders by their link count: the folder's own name, its `.`, and the `..` of each
/// subfolder. Trusted only on ext2 to ext4, XFS and tmpfs; other file systems count differently or not at all.
///
/// Use one per walk: the cached device types hold only until another file system is mounted under the same number.
struct LinkCounts {
    private var believed: [UInt64: Bool] = [:]

    /// Whether an open folder has no subfolders. Blocks.
    ///
    /// - Returns: false if it has some, or if that is uncertain.
    mutating func showNoFolders(_ folder: Descriptor) throws -> Bool {
        let status = try folder.status()
        guard status.links == 2 else { return false }
        if let isBelieved = believed[status.device] { return isBelieved }
        var found = statfs()
        guard fstatfs(folder.raw, &found) == 0 else { return false }
        let isBelieved = [0xEF53, 0x5846_5342, 0x0102_1994].contains(UInt32(truncatingIfNeeded: found.f_type))
        believed[status.device] = isBelieved
        return isBelieved
    }
}

/// Resolves the links in a configured path without asking a file system that may never answer: paths on such a file
/// system are taken literally. Blocks only on local disks.
struct LinkedPath {
    /// Free of links, except those on a file system that is not asked.
    private(set) var path: BytePath = "/"
    /// Why it must be polled; nil if the whole path is on file systems that send events.
    let reason: String?

    private static let mostLinks = 40

    init(_ configured: BytePath, in mounts: [Mount]) {
        var left = Self.reversedNames(configured)
        var links = 0
        while let name = left.popLast() {
            if name == Array("..".utf8) {
                if path.bytes.count > 1 { path = path.parent }
                continue
            }
            let next = path.appending(name: name)
            if Self.reason(next, mounts) == nil, links < Self.mostLinks, let target = PathStatus.target(ofLink: next) {
                links += 1
                if target.isAbsolute { path = "/" }
                left += Self.reversedNames(target)
            } else {
                path = next
            }
        }
        reason = Self.reason(path, mounts)
    }

    private static func reason(_ path: BytePath, _ mounts: [Mount]) -> String? {
        Mount.covering(path, in: mounts).flatMap { FileSystemKind.reasonToPoll(type: $0.type) }
    }

    private static func reversedNames(_ path: BytePath) -> [[UInt8]] {
        path.bytes.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }.map(Array.init).reversed()
    }
}
