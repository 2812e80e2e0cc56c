/// Fifield's quoted-overlap bomb, with every checksum correct: each entry's data begins with a stored block that quotes
/// the next one's local header, so that all of them share one kernel of zeros.
///
/// - Parameters:
///   - entries: `0.png`, `1.png` and so on; each inflates to a little more than `258 × runs` bytes.
///   - runs: the kernel has `1 + 258 × runs` zeros after the head of a picture.
package func quotedOverlap(entries count: Int, runs: Int) -> [UInt8] {
    let kernel = RawZip.Entry(zeros: "", runs: runs)
    var entries: [RawZip.Entry] = []
    var sum = kernel.truth.crc
    var size = kernel.truth.size
    var packed = kernel.data.count
    var front: [UInt8] = []
    for index in stride(from: count - 1, through: 0, by: -1) {
        var entry = RawZip.Entry("\(index).png", [])
        entry.method = 8
        entry.truth = RawZip.Claim(crc: sum, packed: UInt64(packed), size: size)
        let header = RawZip.localHeader(entry)
        entries.append(entry)
        let quote = index == 0 ? [] : [0] + little(header.count, 2) + little(~header.count, 2)
        front = quote + header + front
        sum = checksum(checksum(header), then: sum, length: Int(size))
        size += UInt64(header.count)
        packed += quote.count + header.count
    }
    let data = front + kernel.data
    for index in entries.indices {
        let length = UInt64(30 + entries[index].name.count)
        entries[index].offset = UInt64(data.count) - entries[index].truth.packed - length
    }
    return data + directory(entries.reversed(), at: data.count)
}

/// This many entries that all share the same bytes.
package func fullOverlap(entries count: Int, runs: Int) -> [UInt8] {
    let kernel = RawZip.Entry(zeros: "0.png", runs: runs)
    let data = RawZip.localHeader(kernel) + kernel.data
    let entries = (0..<count).map { index in
        var entry = kernel
        entry.name = Array("\(index).png".utf8)
        entry.offset = 0
        return entry
    }
    return data + directory(entries, at: data.count)
}

/// A central directory and its end record, after `start` bytes.
private func directory(_ entries: [RawZip.Entry], at start: Int) -> [UInt8] {
    let headers = entries.flatMap { RawZip.centralHeader($0, at: $0.offset ?? 0) }
    return headers + little(0x0605_4B50, 4) + little(0, 4) + little(entries.count, 2) + little(entries.count, 2)
        + little(headers.count, 4) + little(start, 4) + little(0, 2)
}
