import Platform
import Sandbox

/// The header before an entry's bytes in a ZIP. It repeats the directory; in a damaged archive the two may contradict
/// each other, and libarchive believes this one.
struct ZipLocalHeader: Equatable {
    var flags: UInt16
    var method: UInt16
    var crc32: UInt32
    var packedSize: UInt64
    var unpackedSize: UInt64
    var name: [UInt8]
    /// The offset of the packed bytes in the file.
    var data: Int64

    /// nil if there is no such header.
    init?(of entry: ZipDirectory.Entry, in file: HandedFile) throws {
        guard let start = Int64(exactly: entry.start), start < file.size else { return nil }
        var bytes = try file.read(at: start, count: 30 + entry.name.count + 64)
        var lengths = ByteCursor(bytes, at: 26)
        guard let nameLength = lengths.number(2), let extraLength = lengths.number(2) else { return nil }
        let length = 30 + Int(nameLength) + Int(extraLength)
        if bytes.count < length { bytes = try file.read(at: start, count: length) }
        var header = ByteCursor(bytes)
        guard header.number(4) == 0x0403_4B50, header.skip(2), let flags = header.number(2),
            let method = header.number(2), header.skip(4), let crc32 = header.number(4),
            var packed = header.number(4), var unpacked = header.number(4), header.skip(4),
            let name = header.bytes(Int(nameLength)), bytes.count >= length
        else { return nil }
        while header.position < length, let id = header.number(2), let count = header.number(2) {
            if id == 1 {
                var large = header
                if unpacked == 0xFFFF_FFFF, let value = large.number(8) { unpacked = value }
                if packed == 0xFFFF_FFFF, let value = large.number(8) { packed = value }
            }
            if !header.skip(count) { break }
        }
        (self.flags, self.method, self.crc32) = (UInt16(flags), UInt16(method), UInt32(crc32))
        (packedSize, unpackedSize, self.name) = (packed, unpacked, name)
        data = start + Int64(length)
    }

    var isEncrypted: Bool { flags & 1 != 0 }

    /// Whether checksum and sizes follow after the bytes, so that they may be missing here.
    var hasDescriptor: Bool { flags & 8 != 0 }
}

extension ZipDirectory.Entry {
    /// Where its packed bytes are; nil if the two headers disagree.
    func place(_ local: ZipLocalHeader, size: Int64) -> ZipPlace? {
        guard local.method == method, let packed = Int64(exactly: packedSize), local.data <= size,
            packed <= size - local.data
        else { return nil }
        return ZipPlace(offset: local.data, size: packed, method: method, flags: flags, crc32: crc32)
    }

    /// How the two headers of one entry contradict each other; nil if they agree. Skipped if both say that it is
    /// encrypted: such an entry is never read.
    func contradiction(_ local: ZipLocalHeader) -> String? {
        if isEncrypted, local.isEncrypted { return nil }
        if !isNamed(local.name, local.flags) { return "its name" }
        if (flags ^ local.flags) & compared(local) != 0 { return "its flags" }
        if local.method != method { return "how it is packed" }
        func differs<Number: BinaryInteger>(_ own: Number, _ other: Number) -> Bool {
            other != own && !(local.hasDescriptor && other == 0)
        }
        if differs(crc32, local.crc32) { return "its checksum" }
        if differs(packedSize, local.packedSize) || differs(unpackedSize, local.unpackedSize) { return "its size" }
        return nil
    }

    /// The relevant flags: without the Deflate compression level, and without the encoding of a name that is the same
    /// in both.
    private func compared(_ local: ZipLocalHeader) -> UInt16 {
        var mask: UInt16 = method == 8 && local.method == 8 ? 0xFFF9 : 0xFFFF
        if name.allSatisfy({ $0 < 0x80 }) { mask &= ~0x0800 }
        return mask
    }

    /// PKZIP 2.50 wrote names in the Windows code page here and the DOS one there: they then differ in non-ASCII bytes.
    private func isNamed(_ other: [UInt8], _ otherFlags: UInt16) -> Bool {
        if other == name { return true }
        guard other.count == name.count, (flags | otherFlags) & 0x0800 == 0 else { return false }
        return zip(name, other).allSatisfy { $0 == $1 || $0 >= 0x80 && $1 >= 0x80 }
    }
}
