import Foundation

/// A ZIP whose entries share one deflated kernel by quoting each other's local headers.
package func quotedOverlap(entries: Int, kernel: [UInt8]) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    // One fixed-Huffman block: a zero, then copies of 258 bytes at distance 1. Its checksum is not looked at.
    let packed = [UInt8](repeating: 0x55, count: kernel.count / 1000)
    var data = packed
    var size = kernel.count
    var headers: [(name: String, offset: Int, packed: Int, size: Int)] = []
    for index in stride(from: entries - 1, through: 0, by: -1) {
        let name = "\(index).png"
        let local =
            little(0x0403_4B50, 4) + little(20, 2) + little(0, 2) + little(8, 2) + little(0, 8)
            + little(data.count, 4) + little(size, 4) + little(name.utf8.count, 2) + little(0, 2) + Array(name.utf8)
        headers.append((name, data.count, data.count, size))
        let quote = [0] + little(local.count, 2) + little(~local.count, 2)
        size += local.count
        data = (index == 0 ? [] : quote) + local + data
    }
    let whole = data.count
    var directory: [UInt8] = []
    for entry in headers.reversed() {
        let start = whole - entry.offset - 30 - entry.name.utf8.count
        directory += little(0x0201_4B50, 4) + little(20, 2) + little(20, 2) + little(0, 2) + little(8, 2) + little(0, 8)
        directory += little(entry.packed, 4) + little(entry.size, 4) + little(entry.name.utf8.count, 2)
        directory += little(0, 12) + little(max(0, start), 4) + Array(entry.name.utf8)
    }
    return data + directory + little(0x0605_4B50, 4) + little(0, 4) + little(entries, 2) + little(entries, 2)
        + little(directory.count, 4) + little(whole, 4) + little(0, 2)
}
