import Platform
import Testing

@Suite("Picture formats") struct PictureFormatTests {
    private static func boxes(_ brand: String, _ others: [String] = []) -> [UInt8] {
        let brands = Array(brand.utf8) + [0, 0, 0, 0] + others.flatMap { Array($0.utf8) }
        return [0, 0, 0, UInt8(8 + brands.count)] + Array("ftyp".utf8) + brands
    }

    private static let samples: [(PictureFormat?, [UInt8])] = [
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
        (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)), (.webp, Array("RIFF????WEBPVP8 ".utf8)),
        (.tiff, [0x49, 0x49, 0x2A, 0x00]), (.tiff, [0x4D, 0x4D, 0x00, 0x2A]),
        (.avif, boxes("avif")), (.avif, boxes("avis")), (.avif, boxes("mif1", ["miaf", "avif"])),
        (.heic, boxes("heic")), (.heic, boxes("msf1", ["hevc"])),
        (nil, boxes("isom", ["mp41"])), (nil, Array("RIFF????WAVEfmt ".utf8)), (nil, [0xFF, 0xD8]), (nil, []),
        (nil, Array("text".utf8)),
    ]

    @Test("A picture is recognised by its first bytes") func pictureToldFirst() {
        for (format, bytes) in Self.samples { #expect(PictureFormat.of(bytes) == format, "\(bytes)") }
    }

    @Test("Brands beyond the end of their box are ignored") func brandsBehindEnd() {
        var bytes = Self.boxes("isom", ["mp41"])
        bytes += Array("avif".utf8)
        #expect(PictureFormat.of(bytes) == nil)
    }
}
