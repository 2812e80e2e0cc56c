import Foundation

/// Tiny pictures, made byte by byte.
enum Picture {
    static let plainJPEG: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
    static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 1, 2, 3, 4,
    ]

    /// A JPEG whose APP1 segment holds DateTimeOriginal and, where given, OffsetTimeOriginal.
    static func jpeg(taken: String, offset: String? = nil, little: Bool = true) -> [UInt8] {
        let block = Array("Exif".utf8) + [0, 0] + tiff(taken: taken, offset: offset, little: little)
        let length = block.count + 2
        return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + block
            + [0xFF, 0xDA, 0, 2, 7, 7, 0xFF, 0xD9]
    }

    static func tiff(taken: String, offset: String?, little: Bool) -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] {
            let bytes = (0..<width).map { UInt8(value >> ($0 * 8) & 255) }
            return little ? bytes : bytes.reversed()
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
        }
        let times = [(0x9003, taken)] + (offset.map { [(0x9011, $0)] } ?? [])
        let texts = 26 + 2 + times.count * 12 + 4
        var sub = number(times.count, 2)
        var data: [UInt8] = []
        for (tag, text) in times {
            sub += entry(tag, 2, text.utf8.count + 1, texts + data.count)
            data += Array(text.utf8) + [0]
        }
        let head: [UInt8] = little ? [0x49, 0x49, 0x2A, 0] : [0x4D, 0x4D, 0, 0x2A]
        return head + number(8, 4) + number(1, 2) + entry(0x8769, 4, 1, 26) + number(0, 4) + sub + number(0, 4) + data
    }

    static func png(taken: String) -> [UInt8] {
        let block = tiff(taken: taken, offset: nil, little: false)
        return Array(png.prefix(8)) + [0, 0, 0, UInt8(block.count)] + Array("eXIf".utf8) + block + [0, 0, 0, 0]
            + Array(png.dropFirst(8))
    }

    static func webp(taken: String) -> [UInt8] {
        let block = tiff(taken: taken, offset: nil, little: true)
        return Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPEXIF".utf8) + [UInt8(block.count), 0, 0, 0] + block
    }
}

/// A time in ISO 8601, as tests write it.
func at(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

let newYork = TimeZone(identifier: "America/New_York") ?? .gmt
let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt
