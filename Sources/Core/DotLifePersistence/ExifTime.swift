import Foundation
import Platform

/// When a picture was taken: DateTimeOriginal of the EXIF data in a JPEG, TIFF, PNG or WebP file.
///
/// The bytes come from outside: every offset is checked, every loop bounded, and whatever does not fit is "no time".
package enum ExifTime {
    /// - Parameters:
    ///   - head: the picture's first bytes; EXIF data that begins beyond them is not seen.
    ///   - timeZone: for times without OffsetTimeOriginal, which say what the camera's clock showed.
    /// - Returns: nil where there is none or it is no time.
    package static func original(in head: Data, timeZone: TimeZone) -> Date? {
        let bytes = [UInt8](head)
        guard let format = PictureFormat.of(bytes) else { return nil }
        let block: ArraySlice<UInt8>? =
            switch format {
            case .jpeg: jpegBlock(bytes)
            case .tiff: bytes[...]
            case .png: pngBlock(bytes)
            case .webp: webpBlock(bytes)
            case .gif, .heic, .avif: nil
            }
        guard let block, let tiff = Tiff(Array(block)) else { return nil }
        guard let sub = tiff.firstDirectory.flatMap({ tiff.entry(0x8769, in: $0) }).flatMap(tiff.long) else {
            return nil
        }
        guard let text = tiff.entry(0x9003, in: sub).flatMap(tiff.ascii) else { return nil }
        let offset = tiff.entry(0x9011, in: sub).flatMap(tiff.ascii)
        return date(text, offset: offset, timeZone)
    }

    /// `2026:11:21 09:30:15`, the offset as `+01:00`.
    private static func date(_ text: String, offset: String?, _ timeZone: TimeZone) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        let day = parts[0].replacing(":", with: "-")
        if let offset, let exact = CaptureTime.parse("\(day) \(parts[1])\(offset)", arrival: .distantPast, timeZone) {
            return exact
        }
        return CaptureTime.parse("\(day) \(parts[1])", arrival: .distantPast, timeZone)
    }

    /// The TIFF block of the first APP1 segment that is EXIF.
    private static func jpegBlock(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var at = 2
        while at + 4 <= bytes.count, bytes[at] == 0xFF {
            let marker = bytes[at + 1]
            // Fill bytes before a marker, and markers without a length.
            if marker == 0xFF || marker == 0x01 || (0xD0...0xD7).contains(marker) {
                at += marker == 0xFF ? 1 : 2
                continue
            }
            // The picture itself begins, or ends.
            if marker == 0xDA || marker == 0xD9 { return nil }
            let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            let end = at + 2 + length
            guard length >= 2 else { return nil }
            let segment = bytes[(at + 4)..<max(at + 4, min(end, bytes.count))]
            if marker == 0xE1, segment.starts(with: Array("Exif".utf8) + [0, 0]) { return segment.dropFirst(6) }
            at = end
        }
        return nil
    }

    private static func pngBlock(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        chunk("eXIf", in: bytes, from: 8) { at in
            let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
            return (name: bytes[(at + 4)..<(at + 8)], length: length, next: at + 12 + length)
        }
    }

    private static func webpBlock(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let block = chunk("EXIF", in: bytes, from: 12) { at in
            let length = (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[at + 4 + $1]) }
            return (name: bytes[at..<(at + 4)], length: length, next: at + 8 + length + length % 2)
        }
        // Some writers put JPEG's own mark before the block.
        guard let block, block.starts(with: Array("Exif".utf8) + [0, 0]) else { return block }
        return block.dropFirst(6)
    }

    /// The first chunk of that name; both formats have eight bytes of header before a chunk's data.
    private static func chunk(
        _ name: String, in bytes: [UInt8], from start: Int,
        _ header: (Int) -> (name: ArraySlice<UInt8>, length: Int, next: Int)
    ) -> ArraySlice<UInt8>? {
        var at = start
        while at + 8 <= bytes.count {
            let found = header(at)
            if found.name.elementsEqual(name.utf8) {
                return bytes[(at + 8)..<min(at + 8 + found.length, bytes.count)]
            }
            at = found.next
        }
        return nil
    }
}

/// As much of TIFF's structure as finding a tag takes.
private struct Tiff {
    struct Entry {
        let type: UInt16
        let count: Int
        /// Where the four bytes of value or offset are.
        let position: Int
    }

    private let bytes: [UInt8]
    private let isLittle: Bool

    /// - Returns: nil where the bytes do not begin as TIFF does.
    init?(_ bytes: [UInt8]) {
        switch Array(bytes.prefix(4)) {
        case [0x49, 0x49, 0x2A, 0x00]: isLittle = true
        case [0x4D, 0x4D, 0x00, 0x2A]: isLittle = false
        default: return nil
        }
        self.bytes = bytes
    }

    var firstDirectory: Int? { number(at: 4, width: 4) }

    func entry(_ tag: Int, in directory: Int) -> Entry? {
        guard let count = number(at: directory, width: 2) else { return nil }
        for index in 0..<min(count, 1000) {
            let at = directory + 2 + index * 12
            guard let found = number(at: at, width: 2) else { return nil }
            guard found == tag else { continue }
            guard let type = number(at: at + 2, width: 2), let values = number(at: at + 4, width: 4) else { return nil }
            return Entry(type: UInt16(type), count: values, position: at + 8)
        }
        return nil
    }

    func long(_ entry: Entry) -> Int? {
        entry.type == 4 || entry.type == 13 ? number(at: entry.position, width: 4) : nil
    }

    /// A text of at most 64 bytes, which all times are.
    func ascii(_ entry: Entry) -> String? {
        guard entry.type == 2, (1...64).contains(entry.count) else { return nil }
        guard let start = entry.count <= 4 ? entry.position : number(at: entry.position, width: 4) else { return nil }
        guard start >= 0, start <= bytes.count - entry.count else { return nil }
        let text = bytes[start..<(start + entry.count)].prefix { $0 != 0 }
        guard text.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    private func number(at offset: Int, width: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        let part = bytes[offset..<(offset + width)]
        return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
}
