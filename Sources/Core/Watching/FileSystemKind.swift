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

    init(_ configured: BytePath, in mounts: [MountPoint]) {
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

    private static func reason(_ path: BytePath, _ mounts: [MountPoint]) -> String? {
        MountPoint.covering(path, in: mounts).flatMap { FileSystemKind.reasonToPoll(type: $0.type) }
    }

    private static func reversedNames(_ path: BytePath) -> [[UInt8]] {
        path.bytes.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }.map(Array.init).reversed()
    }
}

/// One line of /proc/self/mountinfo.
struct MountPoint: Hashable {
    let id: Int
    let path: BytePath
    let type: String

    /// All mounts visible to this process, later ones covering earlier ones. Empty if /proc is not mounted.
    static func all() -> [MountPoint] {
        guard let file = PathStatus.kernelFile("/proc/self/mountinfo") else { return [] }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = Glibc.read(file.raw, &part, part.count)
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { break }
            text += part.prefix(got)
        }
        return text.split(separator: UInt8(ascii: "\n")).compactMap(parse)
    }

    /// `36 35 98:0 /root /mount/point options - type source options`; spaces in names are written `\040`.
    static func parse(_ line: some Collection<UInt8>) -> MountPoint? {
        let fields = Array(line).split(separator: UInt8(ascii: " "))
        guard fields.count > 6, let id = Int(String(decoding: fields[0], as: UTF8.self)),
            let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 1 < fields.count
        else { return nil }
        var path: [UInt8] = []
        var rest = fields[4]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                path.append(code)
                rest = rest.dropFirst(3)
            } else {
                path.append(byte)
            }
        }
        return MountPoint(
            id: id, path: BytePath(bytes: path), type: String(decoding: fields[dash + 1], as: UTF8.self))
    }

    /// The mount that holds `path`.
    static func covering(_ path: BytePath, in mounts: [MountPoint]) -> MountPoint? {
        var best: MountPoint?
        for mount in mounts where path.isWithin(mount.path) && mount.path.bytes.count >= (best?.path.bytes.count ?? 0) {
            best = mount
        }
        return best
    }
}
