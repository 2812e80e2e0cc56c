import Platform

// TIFF and the boxes of HEIF: formats whose writer may put the size anywhere.

extension ImageHeader {
    static func tiff(_ bytes: ByteReader) -> Reading {
        let isLittle = bytes[0] == 0x49
        func short(_ at: Int) -> Int? { isLittle ? bytes.little16(at) : bytes.big16(at) }
        func long(_ at: Int) -> Int? { isLittle ? bytes.little32(at) : bytes.big32(at) }
        guard let directory = long(4) else { return .beyond(.tiff, needs: 8) }
        guard directory >= 8 else { return .damaged(.tiff, reason: "its directory lies in its header") }
        guard let count = short(directory) else { return .beyond(.tiff, needs: directory + 2) }
        guard count > 0 else { return .damaged(.tiff, reason: "its directory is empty") }
        let end = directory + 2 + count * 12
        guard bytes.count >= end else { return .beyond(.tiff, needs: end) }
        var sides: [Int: Int] = [:]
        for entry in 0..<count {
            let at = directory + 2 + entry * 12
            // 256 is the width, 257 the height; type 3 is a short, 4 a long.
            guard let tag = short(at), tag == 256 || tag == 257, sides[tag] == nil, let type = short(at + 2) else {
                continue
            }
            sides[tag] = type == 3 ? short(at + 8) : type == 4 ? long(at + 8) : nil
        }
        guard let width = sides[256], let height = sides[257] else {
            return .damaged(.tiff, reason: "its directory gives no size")
        }
        return found(.tiff, width, height)
    }

    /// The offset of a TIFF's directory if it is past the given bytes, and the header that the file would have without
    /// everything in between.
    package static func farDirectory(_ head: [UInt8]) -> (head: [UInt8], directory: Int)? {
        guard PictureFormat.of(head) == .tiff else { return nil }
        let isLittle = head[0] == 0x49
        let bytes = ByteReader(head)
        guard let directory = isLittle ? bytes.little32(4) : bytes.big32(4), directory > head.count else { return nil }
        return (head.prefix(4) + (isLittle ? [8, 0, 0, 0] : [0, 0, 0, 8]), directory)
    }

    /// The largest `ispe` property: the grid's own, next to those of its tiles and of thumbnails.
    static func boxes(_ bytes: ByteReader, _ format: Format) -> Reading {
        var largest: ImageHeader?
        var missing: Int?
        /// Boxes nest four deep on the way to `ispe`; no others are entered.
        func walk(from start: Int, to end: Int, inside: String) {
            var at = start
            while at < end {
                guard let small = bytes.big32(at), let kind = bytes.text(at + 4, count: 4) else {
                    missing = missing ?? at + 16
                    return
                }
                var header = 8
                var size = small
                if small == 1 {
                    guard let high = bytes.big32(at + 8), let low = bytes.big32(at + 12) else {
                        missing = missing ?? at + 16
                        return
                    }
                    guard high < 1 << 20 else { return }
                    header = 16
                    size = high << 32 | low
                } else if small == 0 {
                    size = end - at
                }
                guard size >= header, size <= end - at else { return }
                switch (kind, inside) {
                case ("meta", ""):
                    if at + size > bytes.count { missing = missing ?? at + size }
                    walk(from: at + header + 4, to: min(at + size, bytes.count), inside: "meta")
                case ("iprp", "meta"): walk(from: at + header, to: at + size, inside: "iprp")
                case ("ipco", "iprp"): walk(from: at + header, to: at + size, inside: "ipco")
                case ("ispe", "ipco"):
                    if let width = bytes.big32(at + header + 4), let height = bytes.big32(at + header + 8) {
                        let one = ImageHeader(format: format, width: width, height: height)
                        if one.pixels > largest?.pixels ?? 0 { largest = one }
                    }
                default: break
                }
                if inside.isEmpty, kind == "meta" { return }
                at += size
            }
        }
        walk(from: 0, to: 1 << 52, inside: "")
        if let missing, missing > bytes.count { return .beyond(format, needs: missing) }
        return largest.map { .found($0) } ?? .damaged(format, reason: "it gives no size")
    }
}

/// Bytes readable at any offset; nil outside.
struct ByteReader {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    subscript(offset: Int) -> UInt8? { offset >= 0 && offset < bytes.count ? bytes[offset] : nil }

    func holds(_ wanted: [UInt8], at offset: Int) -> Bool {
        offset >= 0 && offset <= bytes.count && bytes[offset...].starts(with: wanted)
    }

    func holds(_ wanted: String, at offset: Int) -> Bool { holds(Array(wanted.utf8), at: offset) }

    func text(_ offset: Int, count length: Int) -> String? {
        guard offset >= 0, length >= 0, offset <= bytes.count, length <= bytes.count - offset else { return nil }
        return String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
    }

    /// The big-endian number in `count` bytes at `offset`; up to 4.
    private func number(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }

    private func reversedNumber(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func big16(_ offset: Int) -> Int? { number(offset, 2) }
    func big32(_ offset: Int) -> Int? { number(offset, 4) }
    func little16(_ offset: Int) -> Int? { reversedNumber(offset, 2) }
    func little24(_ offset: Int) -> Int? { reversedNumber(offset, 3) }
    func little32(_ offset: Int) -> Int? { reversedNumber(offset, 4) }
}
