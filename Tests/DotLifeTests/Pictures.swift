import Foundation
import OwnFiles
import Platform

/// Tiny pictures, made byte by byte.
enum Picture {
    static let plainJPEG: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
    static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 1, 2, 3, 4,
    ]

    /// A JPEG whose APP1 segment holds DateTimeOriginal and, if given, OffsetTimeOriginal, or other tags in their
    /// place.
    static func jpeg(
        taken: String, offset: String? = nil, little: Bool = true, tags: (time: Int, offset: Int) = (0x9003, 0x9011)
    ) -> [UInt8] {
        let block = Array("Exif".utf8) + [0, 0] + tiff(taken: taken, offset: offset, little: little, tags: tags)
        let length = block.count + 2
        return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + block
            + [0xFF, 0xDA, 0, 2, 7, 7, 0xFF, 0xD9]
    }

    static func tiff(
        taken: String, offset: String?, little: Bool, tags: (time: Int, offset: Int) = (0x9003, 0x9011)
    ) -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] {
            let bytes = (0..<width).map { UInt8(value >> ($0 * 8) & 255) }
            return little ? bytes : bytes.reversed()
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
        }
        let times = [(tags.time, taken)] + (offset.map { [(tags.offset, $0)] } ?? [])
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

extension Picture {
    /// A HEIC file with its EXIF data as an item, `gap` bytes after its tables.
    static func heic(taken: String, gap: Int = 0, version: UInt8 = 1) -> [UInt8] {
        func big(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(value >> ($0 * 8) & 255) }
        }
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            big(content.count + 8, 4) + Array(name.utf8) + content
        }
        let exif = big(6, 4) + Array("Exif".utf8) + [0, 0] + tiff(taken: taken, offset: nil, little: false)
        let start = box("ftyp", Array("heic".utf8) + big(0, 4) + Array("mif1heic".utf8))
        func meta(_ offset: Int) -> [UInt8] {
            let picture = box("infe", [2, 0, 0, 0] + big(1, 2) + big(0, 2) + Array("hvc1".utf8) + [0])
            let item = box("infe", [2, 0, 0, 0] + big(7, 2) + big(0, 2) + Array("Exif".utf8) + [0])
            let names = box("iinf", [0, 0, 0, 0] + big(2, 2) + picture + item)
            let method = version == 0 ? [] : big(0, 2)
            let places = box(
                "iloc",
                [version, 0, 0, 0] + [0x44, 0] + big(2, 2) + big(1, 2) + method + big(0, 2) + big(1, 2) + big(0, 4)
                    + big(4, 4) + big(7, 2) + method + big(0, 2) + big(1, 2) + big(offset, 4) + big(exif.count, 4))
            return box("meta", [0, 0, 0, 0] + box("hdlr", big(0, 20)) + names + places)
        }
        let tables = start + meta(0)
        return start + meta(tables.count + 8 + gap) + box("mdat", [UInt8](repeating: 0, count: gap) + exif)
    }

    /// A HEIC file whose table has 10,000 items of 65,535 extents, which take no space: 655 million in 80 KB.
    static func heicOfManyExtents() -> [UInt8] {
        func big(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(value >> ($0 * 8) & 255) }
        }
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            big(content.count + 8, 4) + Array(name.utf8) + content
        }
        let item = box("infe", [2, 0, 0, 0] + big(65_000, 2) + big(0, 2) + Array("Exif".utf8) + [0])
        let names = box("iinf", [0, 0, 0, 0] + big(1, 2) + item)
        let entries = (0..<10_000).flatMap { big($0, 2) + big(0, 2) + big(65_535, 2) }
        let places = box("iloc", [0, 0, 0, 0, 0, 0] + big(10_000, 2) + entries)
        return box("ftyp", Array("heic".utf8) + big(0, 4) + Array("mif1heic".utf8))
            + box("meta", [0, 0, 0, 0] + names + places)
    }

    /// A PNG that claims this many pixels and has none.
    static func headerOnlyPNG(width: UInt32, height: UInt32) -> [UInt8] {
        func big(_ value: UInt32) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 255) } }
        let header = Array("IHDR".utf8) + big(width) + big(height) + [8, 6, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13) + header + big(CRC32.of(header))
    }
}

/// A time in ISO 8601, as tests write it.
func at(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

let newYork = TimeZone(identifier: "America/New_York") ?? .gmt
let berlin = Zone(identifier: "Europe/Berlin") ?? .gmt

/// The files below a folder, by their paths in it, sorted.
func fileNames(below folder: BytePath) throws -> [String] {
    try listDirectory(folder).flatMap { entry in
        let name = String(decoding: entry.name, as: UTF8.self)
        let path = folder.appending(name: entry.name)
        return try FileStatus.of(path)?.kind == .directory ? fileNames(below: path).map { "\(name)/\($0)" } : [name]
    }.sorted()
}
