import CLinux
import Glibc
import Platform

/// Whether a file system tells inotify of all its changes.
package enum FileSystemKind {
    /// The name of the remote or foreign file system that `path` lies on, such as NFS; nil for a local one. Blocks.
    package static func remoteName(_ path: BytePath) -> String? {
        reasonToPoll(path).map { String($0.prefix { $0 != " " }) }
    }

    /// A reason to poll, for a person; nil for a file system that sends events. Blocks.
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

    /// A reason to poll, from the type in /proc/self/mountinfo: for a server that does not answer, statfs(2) may never return.
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

/// Which folders have none in them, by their number of links: their own name, their `.`, and the `..` of each folder in
/// them. Only ext2 to ext4, XFS and tmpfs are believed; others count otherwise, or not at all.
///
/// For one walk: what it knows of a device holds as long as nobody mounts another under the same number.
struct LinkCounts {
    private var believed: [UInt64: Bool] = [:]

    /// Whether an open folder has no folders in it. Blocks.
    ///
    /// - Returns: false where it has some, or cannot be told to have none.
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

/// Where a configured path leads through links, as far as that can be told without asking a file system that may never
/// answer: what lies on one is taken by its name. Blocks on local disks alone.
struct LinkedPath {
    /// Without links, but for those on a file system that is not asked.
    private(set) var path: BytePath = "/"
    /// Why it has to be polled; nil where all of it lies on file systems that send events.
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

    /// All mounts that this process sees, later ones on top of earlier ones. Empty where /proc is not mounted.
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

    /// `36 35 98:0 /root /mount/point options - type source options`; blanks in names are written `\040`.
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

    /// The mount on which `path` lies.
    static func covering(_ path: BytePath, in mounts: [MountPoint]) -> MountPoint? {
        var best: MountPoint?
        for mount in mounts where path.isWithin(mount.path) && mount.path.bytes.count >= (best?.path.bytes.count ?? 0) {
            best = mount
        }
        return best
    }
}
