import Foundation

/// Real pictures, made by hand or, where a codec is needed, the smallest one that it wrote (40 × 60, red).
package enum Picture {
    /// A PNG of one colour, its pixels in stored zlib blocks.
    ///
    /// - Parameter pixel: 3 bytes, or 4 with transparency.
    package static func png(_ width: Int, _ height: Int, _ pixel: [UInt8] = [200, 30, 30]) -> [UInt8] {
        let line = [0] + [UInt8](repeatElement(pixel, count: width).joined())
        return png(
            width, height, colours: pixel.count == 4 ? 6 : 2, rows: [UInt8](repeatElement(line, count: height).joined())
        )
    }

    /// The same with any lines, each preceded by its filter.
    package static func png(_ width: Int, _ height: Int, colours: UInt8 = 2, rows lines: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: lines.count, by: 65_535) {
            let part = lines[start..<min(start + 65_535, lines.count)]
            packed += [start + 65_535 >= lines.count ? 1 : 0] + little(part.count, 2) + little(~part.count, 2) + part
        }
        return png(width, height, colours: colours, packed + big(adler(lines), 4))
    }

    /// A PNG that begins well and has arbitrary bytes for pixels.
    package static func png(_ width: Int, _ height: Int, colours: UInt8, _ packed: [UInt8]) -> [UInt8] {
        let header = big(width, 4) + big(height, 4) + [8, colours, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", packed)
            + chunk("IEND", [])
    }

    /// 69 bytes that cost a decoder half a minute and a gigabyte.
    package static let bomb = png(65_535, 65_535, colours: 6, [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1])

    /// A TIFF of one colour, uncompressed.
    package static func tiff(_ width: Int, _ height: Int) -> [UInt8] {
        let pixels = [UInt8](repeatElement([200, 30, 30], count: width * height).joined())
        func entry(_ tag: Int, _ type: Int, _ value: Int, count: Int = 1) -> [UInt8] {
            little(tag, 2) + little(type, 2) + little(count, 4) + little(value, 4)
        }
        let entries = [
            entry(256, 4, width), entry(257, 4, height), entry(258, 3, 122, count: 3), entry(259, 3, 1),
            entry(262, 3, 2), entry(273, 4, 128), entry(277, 3, 3), entry(278, 4, height), entry(279, 4, pixels.count),
        ]
        let directory = little(entries.count, 2) + entries.flatMap { $0 } + little(0, 4)
        return [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0] + directory + little(8, 2) + little(8, 2) + little(8, 2) + pixels
    }

    package static let webp = decoded(
        "UklGRkgAAABXRUJQVlA4IDwAAABwAwCdASooADwAPxGIvlisKSajoqgBgCIJZwDUyAd7tTT4QQAA/uX6PjCaS27/9V/j79sIcyuNon4AAAA=")
    package static let gif = decoded(
        "R0lGODdhKAA8AIEAAMgeHgAAAAAAAAAAACwAAAAAKAA8AEAIUAABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBDihxJ"
            + "sqTJkyhTqlzJsqXLlzBjypxJs6bNmzhz6tzJs6fPn0CDCh1K1GZAADs=")
    package static let avif = decoded(
        "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAA"
            + "AOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAKwAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFD"
            + "b2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAKAAAADwAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJu"
            + "Y2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAAM21kYXQSAAoJGBVn7aICGg0IMhwcR4eF3dNNNMLAAADPyinHlPUFtR1D"
            + "QvYygC84")
    package static let heic = decoded(
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp"
            + "bG9jAAAAAERAAAEAAQAAAAABoQABAAAAAAAAABoAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAAB"
            + "AAAA/WlwcnAAAADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEA"
            + "AQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAA"
            + "FGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAACgAAAABAAAAPAAAAAH////oAAAAAv////wAAAACAAAAEHBpeGkAAAAAAwgICAAAABhp"
            + "cG1hAAAAAAAAAAEAAQWBAgMFhAAAACJtZGF0AAAAFigBrxmA70mlv//f4x/19q/4prWmPm4=")

    /// A JPEG marked as rotated: its left side is its top (EXIF orientation 6).
    package static func turned(_ jpeg: [UInt8]) -> [UInt8] {
        let exif: [UInt8] =
            Array("Exif\0\0II".utf8) + [0x2A, 0, 8, 0, 0, 0, 1, 0] + [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
            + [0, 0, 0, 0]
        let front = Array(jpeg.prefix(2)) + [0xFF, 0xE1] + big(exif.count + 2, 2)
        return front + exif + Array(jpeg.dropFirst(2))
    }

    private static func decoded(_ text: String) -> [UInt8] { Data(base64Encoded: text).map { Array($0) } ?? [] }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    private static func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + data
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in body {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
        }
        return big(data.count, 4) + body + big(Int(~crc), 4)
    }

    private static func adler(_ bytes: [UInt8]) -> Int {
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
