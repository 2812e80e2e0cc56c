import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Format and size of pictures from their first bytes, and types of files.
@Suite("Picture headers") struct MetadataImageTests {
    static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF, 8, 6, 0, 0, 0]
    static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 6, 1, 2, 3, 4, 0xFF, 0xFF, 0xC2, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3, 0, 0]
    static let gif: [UInt8] = Array("GIF89a".utf8) + [0x20, 0x03, 0x58, 0x02, 0, 0]
    static let webpX: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 0x1F, 3, 0, 0x57, 2, 0]
    static let webpL: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8L".utf8) + [0, 0, 0, 0, 0x2F, 0x1F, 0xC3, 0x95, 0]
        + [0, 0, 0, 0, 0]
    static let webp: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [0, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A]
        + [0x20, 0x03, 0x58, 0x02]
    static let tiff: [UInt8] =
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 2, 1, 0, 0, 3, 0, 0, 0, 1, 0x03, 0x20, 0, 0]
        + [1, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0x02, 0x58]
    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let size = content.count + 8
        return [UInt8(size >> 24 & 255), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
            + Array(name.utf8) + content
    }
    static let ispe = box("ispe", [0, 0, 0, 0, 0, 0, 0x03, 0x20, 0, 0, 0x02, 0x58])
    static let tile = box("ispe", [0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64])
    static func heif(_ brand: String) -> [UInt8] {
        box("ftyp", Array("\(brand)".utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
            + box("meta", [0, 0, 0, 0] + box("hdlr", []) + box("iprp", box("ipco", tile + ispe)))
    }

    @Test(
        "Headers give the size of their pictures",
        arguments: [
            (jpeg, ImageHeader.Format.jpeg), (gif, .gif), (webpX, .webp), (webpL, .webp), (webp, .webp), (tiff, .tiff),
            (heif("heic"), .heic), (heif("avif"), .avif),
        ])
    func headersTellSize(bytes: [UInt8], format: ImageHeader.Format) {
        #expect(ImageHeader.examine(bytes) == .found(ImageHeader(format: format, width: 800, height: 600)))
    }

    @Test("An image bomb is recognised before it is decoded") func imageBombTold() throws {
        let header = try #require(ImageHeader.read(Self.png))
        #expect((header.width, header.height, header.isTooLarge) == (65535, 65535, true))
        #expect(!ImageHeader(format: .png, width: 10_000, height: 10_000).isTooLarge)
        #expect(ImageHeader(format: .tiff, width: 1 << 32 - 1, height: 1 << 32 - 1).isTooLarge)
    }

    @Test("A header beyond the given bytes says how many it needs") func headerLiesPast() {
        let long = [0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFE] + [UInt8](repeating: 0, count: 100)
        #expect(ImageHeader.examine(long) == .beyond(.jpeg, needs: 2 + 2 + 0xFFFE + 4))
        #expect(
            ImageHeader.examine([0x49, 0x49, 0x2A, 0, 0, 0, 1, 0] + [0, 0, 0, 0]) == .beyond(.tiff, needs: 65_538))
        #expect(ImageHeader.read(long) == nil)
    }

    @Test("No bytes do harm, and requests for more always end") func bytesHarmAsk() {
        var random = SeededGenerator(for: "hostile pictures")
        let samples =
            [Self.png, Self.jpeg, Self.gif, Self.webp, Self.webpL, Self.webpX, Self.tiff]
            + [Self.heif("heic"), Self.heif("avif")]
        var (found, beyond, damaged, unknown) = (0, 0, 0, 0)
        for sample in samples {
            for number in 0..<3000 {
                var bytes = sample
                switch number % 10 {
                case 0: break
                // Enough to recognise the format, but the size only for a GIF.
                case 1: bytes = Array(bytes.prefix(13))
                default:
                    for _ in 0..<Int.random(in: 1...6, using: &random) {
                        bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                            [0, 0xFF, 0x80, 1, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)
                            ?? 0
                    }
                    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
                }
                switch ImageHeader.examine(bytes) {
                case .found(let header):
                    found += 1
                    #expect(header.pixels > 0)
                case .beyond(_, let needs):
                    beyond += 1
                    #expect(needs > bytes.count)
                case .damaged: damaged += 1
                case .unknown: unknown += 1
                }
            }
        }
        // The complete ones are recognised, and the truncated ones need more bytes. Of the randomly changed ones a
        // twentieth of the PNGs and a thirteenth of the JPEGs are damaged, and two thirds of the PNGs and more of the
        // GIFs unknown.
        #expect(found >= 2700 && beyond >= 2400, "\(found) found, \(beyond) cut")
        #expect(damaged > 150 && unknown > 2000, "\(damaged) damaged, \(unknown) unknown")
    }

    @Test(
        "The type follows the bytes, spelt like the name's ending",
        arguments: [
            ([0x50, 0x4B, 3, 4, 0, 0, 0, 0], "a.cbz", "cbz"), ([0x50, 0x4B, 3, 4], "a.zip", "zip"),
            ([0x50, 0x4B, 3, 4], "a.cbr", "cbz"), ([0x50, 0x4B, 3, 4], "a", "zip"),
            ([0x50, 0x4B, 3, 4], "a.cba", "cbz"),
            ([0x52, 0x61, 0x72, 0x21, 0x1A, 7, 1, 0], "a.cbz", "cbr"),
            ([0x52, 0x61, 0x72, 0x21, 0x1A, 7, 0], "a.rar", "rar"),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C, 0, 4], "a.CB7", "cb7"),
            ([0x25, 0x50, 0x44, 0x46, 0x2D], "a.cbz", "pdf"), ([0x25, 0x50, 0x44, 0x46, 0x20], "a.cbz", "cbz"),
            (jpeg, "a.JPEG", "jpeg"), (jpeg, "a.png", "jpg"), (heif("avif"), "a.heic", "avif"),
            ([1, 2, 3], "a.cbr", "cbr"),
            ([1, 2, 3], "a.txt", "unknown"), ([], "folder", "unknown"), ([], ".cbz", "unknown"),
        ])
    func typeBytesSpelt(
        head: [UInt8], name: String, type: String
    ) {
        #expect(ComicFileType.detect(head: head, name: Array(name.utf8), isDirectory: false).rawValue == type)
        #expect(ComicFileType.detect(head: head, name: Array(name.utf8), isDirectory: true) == .folder)
    }

    @Test("An EPUB is not a ZIP, and a tar is recognised by its checksum") func epubZipTar() {
        var epub: [UInt8] = [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 22) + [8, 0, 0, 0]
        epub += Array("mimetypeapplication/epub+zip".utf8)
        #expect(ComicFileType.detect(head: epub, name: Array("a.zip".utf8), isDirectory: false).rawValue == "epub")
        var tar = [UInt8](repeating: 0, count: 1024)
        tar.replaceSubrange(0..<5, with: Array("1.jpg".utf8))
        let sum = 0x20 * 8 + tar.reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        tar.replaceSubrange(148..<(148 + digits.utf8.count), with: Array(digits.utf8))
        #expect(ComicFileType.detect(head: tar, name: Array("a.cbz".utf8), isDirectory: false).rawValue == "cbt")
        #expect(ComicFileType.family(of: [UInt8](repeating: 0, count: 1024)) == nil)
    }
}
