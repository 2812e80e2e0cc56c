import Foundation

private func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
    }
    return ~crc
}

private func little(_ value: some BinaryInteger, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private func variable(_ value: Int) -> [UInt8] {
    value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128)] + variable(value >> 7)
}

/// A RAR 4 archive of stored entries `1.png`, `2.png` and so on.
package func storedRar4(_ pages: [[UInt8]]) -> [UInt8] {
    func block(_ type: UInt8, _ flags: Int, _ fields: [UInt8]) -> [UInt8] {
        let body = [type] + little(flags, 2) + little(7 + fields.count, 2) + fields
        return little(crc32(body) & 0xFFFF, 2) + body
    }
    var bytes: [UInt8] = [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x00] + block(0x73, 0, [0, 0, 0, 0, 0, 0])
    for (index, page) in pages.enumerated() {
        let name = Array("\(index + 1).png".utf8)
        let fields =
            little(page.count, 4) + little(page.count, 4) + [3] + little(crc32(page), 4) + little(0x5A21_0000, 4)
        bytes += block(0x74, 0x8000, fields + [20, 0x30] + little(name.count, 2) + little(0o100644, 4) + name) + page
    }
    return bytes + block(0x7B, 0x4000, [])
}

/// A RAR 5 archive of stored entries `1.png`, `2.png` and so on.
package func storedRar5(_ pages: [[UInt8]]) -> [UInt8] {
    func block(_ fields: [UInt8]) -> [UInt8] {
        let body = variable(fields.count) + fields
        return little(crc32(body), 4) + body
    }
    var bytes: [UInt8] = [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x01, 0x00] + block([1, 0, 0])
    for (index, page) in pages.enumerated() {
        let name = Array("\(index + 1).png".utf8)
        let common: [UInt8] = [2, 2] + variable(page.count)
        let file = [4] + variable(page.count) + variable(0o100644) + little(crc32(page), 4) + [0, 1]
        bytes += block(common + file + variable(name.count) + name) + page
    }
    return bytes + block([5, 0, 0])
}
