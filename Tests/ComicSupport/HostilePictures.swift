extension HostileComic {
    /// Pages that are not pictures, or would fill the memory of a decoder.
    package static var pictures: [HostileComic] {
        let ends: [(String, [UInt8], String)] = [
            ("PNG of 65,535 × 65,535", png(65_535, 65_535), "damaged-page"),
            ("PNG of 2³¹ × 2³¹", png(Int(Int32.max), Int(Int32.max)), "damaged-page"),
            ("PNG of 0 × 5", png(0, 5), "damaged-page"),
            ("PNG of 100,000 × 1", png(100_000, 1), "damaged-page"),
            ("JPEG of 65,500 × 65,500", jpeg(65_500, 65_500), "damaged-page"),
            ("JPEG whose size comes later", jpeg(0, 800), "damaged-page"),
            ("GIF of 65,535 × 65,535", Array("GIF89a".utf8) + little(0xFFFF_FFFF, 4) + [0, 0, 0], "damaged-page"),
            ("WebP of 16,384 × 16,384", webp(16_384, 16_384), "damaged-page"),
            ("TIFF of 2³¹ × 2³¹", tiff(1 << 31, 1 << 31), "damaged-page"),
            ("HEIC of 65,535 × 65,535", heif("heic", 65_535, 65_535), "damaged-page"),
            ("AVIF of 65,535 × 65,535", heif("avif", 65_535, 65_535), "damaged-page"),
            ("no bytes", [], "damaged-page"), ("text", Array("hello".utf8), "damaged-page"),
            ("HTML", Array("<html><script>".utf8), "damaged-page"),
            ("an SVG", Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".utf8), "damaged-page"),
            ("a PNG of 20 bytes", Array(png(800, 600).prefix(20)), "damaged-page"),
            ("a JPEG of 10 bytes", Array(jpeg(800, 600).prefix(10)), "damaged-page"),
            ("a JPEG of segments without an end", [0xFF, 0xD8] + loop(40_000), "damaged-page"),
            ("a TIFF whose directory is itself", tiffLoop, "damaged-page"),
            ("a HEIC of boxes in boxes", boxes(200), "damaged-page"),
            ("a JPEG, whatever its name says", jpeg(800, 600), "accepted"),
        ]
        return ends.map { label, bytes, word in
            HostileComic("page: \(label)", word, contents: [picture(1), bytes]) {
                RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry("2.png", bytes)]).bytes
            }
        }
    }

    private static func png(_ width: Int, _ height: Int) -> [UInt8] {
        let header = Array("IHDR".utf8) + big(width, 4) + big(height, 4) + [8, 6, 0, 0, 0]
        let end = Array("IEND".utf8)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13, 4) + header + big(checksum(header), 4)
            + big(0, 4) + end + big(checksum(end), 4)
    }

    private static func jpeg(_ width: Int, _ height: Int) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
            + [0xFF, 0xC0, 0, 17, 8] + big(height, 2) + big(width, 2)
            + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xFF, 0xD9]
    }

    private static func loop(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in [0xFF, 0xE1, 0, 2] as [UInt8] } }

    private static func webp(_ width: Int, _ height: Int) -> [UInt8] {
        let bits = UInt32(width - 1) | UInt32(height - 1) << 14
        let chunk = Array("VP8L".utf8) + little(10, 4) + [0x2F] + little(bits, 4) + [0, 0, 0, 0, 0]
        return Array("RIFF".utf8) + little(chunk.count + 4, 4) + Array("WEBP".utf8) + chunk
    }

    private static func tiff(_ width: Int, _ height: Int) -> [UInt8] {
        func tag(_ id: Int, _ value: Int) -> [UInt8] { little(id, 2) + little(4, 2) + little(1, 4) + little(value, 4) }
        return [0x49, 0x49, 0x2A, 0] + little(8, 4) + little(2, 2) + tag(256, width) + tag(257, height) + little(0, 4)
    }

    private static var tiffLoop: [UInt8] {
        [0x49, 0x49, 0x2A, 0] + little(8, 4) + little(0, 2) + little(8, 4)
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + Array(name.utf8) + content
    }

    private static func heif(_ brand: String, _ width: Int, _ height: Int) -> [UInt8] {
        let size = box("ispe", big(0, 4) + big(width, 4) + big(height, 4))
        return box("ftyp", Array(brand.utf8) + big(0, 4) + Array("mif1".utf8))
            + box("meta", big(0, 4) + box("iprp", box("ipco", size)))
    }

    private static func boxes(_ depth: Int) -> [UInt8] {
        let inner = (0..<depth).reduce([UInt8]()) { content, _ in box("ipco", content) }
        return box("ftyp", Array("heic".utf8) + big(0, 4)) + box("meta", big(0, 4) + box("iprp", inner))
    }
}
