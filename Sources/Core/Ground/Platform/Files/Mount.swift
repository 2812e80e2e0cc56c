import Glibc

/// A file system that is mounted somewhere: a line of /proc/self/mountinfo.
package struct Mount: Sendable, Hashable {
    package let id: Int
    /// The mount point.
    package let path: BytePath
    package let type: String
    /// The device, or the file system's own name: `/dev/sdb1`, `nas:/export`, `tmpfs`.
    package let source: String

    /// All mounts visible to this process, later ones covering earlier ones; empty if /proc is not mounted. Blocks.
    package static func all() -> [Mount] {
        Blocking.call()
        let raw = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return [] }
        let file = Descriptor(owning: raw, path: "/proc/self/mountinfo")
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = Glibc.read(file.raw, &part, part.count)
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { break }
            text += part.prefix(got)
        }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { Mount($0) }
    }

    /// `36 35 98:0 /root /mount/point options - type source options`; spaces in names are written `\040`.
    package init?(_ line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count > 6, let id = Int(String(decoding: fields[0], as: UTF8.self)),
            let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 2 < fields.count
        else { return nil }
        self.id = id
        path = BytePath(bytes: Self.unescaped(fields[4]))
        type = String(decoding: fields[dash + 1], as: UTF8.self)
        source = String(decoding: Self.unescaped(fields[dash + 2]), as: UTF8.self)
    }

    /// The one of `mounts` that holds `path`.
    package static func covering(_ path: BytePath, in mounts: [Mount]) -> Mount? {
        var best: Mount?
        for mount in mounts where path.isWithin(mount.path) && mount.path.bytes.count >= (best?.path.bytes.count ?? 0) {
            best = mount
        }
        return best
    }

    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
