import Platform

/// Format and size of a picture, read from its first bytes without decoding. Protects a decoder from a 69-byte file
/// that claims four billion pixels.
package struct ImageHeader: Sendable, Equatable, Codable {
    package typealias Format = PictureFormat

    package let format: Format
    /// In pixels, as stored: without the rotation that EXIF or `irot` asks for.
    package let width: Int
    package let height: Int

    package init(format: Format, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// At four bytes per pixel 400 MB once decoded, which a renderer can still hold under its memory limit. A page
    /// scanned at 600 dpi has 20 to 35 million.
    package static let pixelLimit = 100_000_000
    /// Longer sides overflow decoders' row buffers; a webtoon strip has 20,000.
    package static let sideLimit = 30_000
    /// Enough for the headers of nearly all pictures; JPEG with large EXIF, and TIFF, may need more.
    package static let headLength = 65_536

    /// `Int.max` if the product overflows.
    package var pixels: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// Whether the picture is too large to decode.
    package var isTooLarge: Bool { width > Self.sideLimit || height > Self.sideLimit || pixels > Self.pixelLimit }

    /// The result of reading a file's first bytes.
    package enum Reading: Sendable, Equatable {
        case found(ImageHeader)
        /// The header continues past the given bytes: it needs at least this many from the start of the file.
        case beyond(Format, needs: Int)
        /// The bytes start like the format but then make no sense.
        case damaged(Format, reason: String)
        case unknown
    }

    /// - Returns: nil if the bytes are no picture, damaged, or too few; ``examine(_:)`` distinguishes these.
    package static func read(_ head: [UInt8]) -> ImageHeader? {
        if case .found(let header) = examine(head) { header } else { nil }
    }

    /// Reads the header. The bytes may be anything: nothing is trusted, and nothing is read twice.
    ///
    /// - Parameter head: the first bytes of the file; ``headLength`` are nearly always enough.
    package static func examine(_ head: [UInt8]) -> Reading {
        guard let format = PictureFormat.of(head) else { return .unknown }
        let bytes = ByteReader(head)
        switch format {
        case .png: return png(bytes)
        case .jpeg: return jpeg(bytes)
        case .gif: return sized(.gif, bytes, end: 10) { ($0.little16(6), $0.little16(8)) }
        case .webp: return webp(bytes)
        case .tiff: return tiff(bytes)
        case .heic, .avif: return boxes(bytes, format)
        }
    }

    /// A header at fixed offsets, all before `end`.
    static func sized(
        _ format: Format, _ bytes: ByteReader, end: Int, _ read: (ByteReader) -> (Int?, Int?)
    ) -> Reading {
        guard bytes.count >= end, case (let width?, let height?) = read(bytes) else {
            return .beyond(format, needs: end)
        }
        return found(format, width, height)
    }

    static func found(_ format: Format, _ width: Int, _ height: Int) -> Reading {
        guard width > 0, height > 0 else { return .damaged(format, reason: "its width or height is 0") }
        return .found(ImageHeader(format: format, width: width, height: height))
    }

    private static func png(_ bytes: ByteReader) -> Reading {
        guard bytes.count >= 24 else { return .beyond(.png, needs: 24) }
        guard bytes.holds("IHDR", at: 12), bytes.big32(8) == 13 else {
            return .damaged(.png, reason: "it does not begin with IHDR")
        }
        guard let width = bytes.big32(16), let height = bytes.big32(20), width < 1 << 31, height < 1 << 31 else {
            return .damaged(.png, reason: "its size is out of range")
        }
        return found(.png, width, height)
    }

    private static func jpeg(_ bytes: ByteReader) -> Reading {
        var at = 2
        while true {
            guard let mark = bytes[at], let code = bytes[at + 1] else { return .beyond(.jpeg, needs: at + 4) }
            guard mark == 0xFF else { return .damaged(.jpeg, reason: "a segment is missing at byte \(at)") }
            switch code {
            case 0xFF: at += 1
            case 0x01, 0xD0...0xD7: at += 2
            case 0xD9: return .damaged(.jpeg, reason: "it ends before its size is given")
            case 0xDA: return .damaged(.jpeg, reason: "its picture data come before its size")
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return sized(.jpeg, bytes, end: at + 9) { ($0.big16(at + 7), $0.big16(at + 5)) }
            default:
                guard let length = bytes.big16(at + 2) else { return .beyond(.jpeg, needs: at + 4) }
                guard length >= 2 else { return .damaged(.jpeg, reason: "a segment at byte \(at) has no length") }
                at += 2 + length
            }
        }
    }

    private static func webp(_ bytes: ByteReader) -> Reading {
        if bytes.count < 30 { return .beyond(.webp, needs: 30) }
        if bytes.holds("VP8X", at: 12) {
            return sized(.webp, bytes, end: 30) { ($0.little24(24).map { $0 + 1 }, $0.little24(27).map { $0 + 1 }) }
        }
        if bytes.holds("VP8L", at: 12) {
            guard bytes[20] == 0x2F, let bits = bytes.little32(21) else {
                return .damaged(.webp, reason: "its lossless header is wrong")
            }
            return found(.webp, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        guard bytes.holds("VP8 ", at: 12), bytes.holds([0x9D, 0x01, 0x2A], at: 23) else {
            return .damaged(.webp, reason: "it holds no picture that is known")
        }
        return sized(.webp, bytes, end: 30) {
            ($0.little16(26).map { $0 & 0x3FFF }, $0.little16(28).map { $0 & 0x3FFF })
        }
    }
}
