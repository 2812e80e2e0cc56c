import Platform

/// Finds a picture's EXIF data: a TIFF block in a JPEG, TIFF, PNG, WebP, HEIC or AVIF file.
///
/// The bytes come from outside: every offset is checked, every loop bounded, and anything invalid counts as "none".
enum ExifBlock {
    /// - Returns: the offset of the block; nil if there is none.
    static func start(_ picture: PictureBytes) throws -> Int? {
        let head = try picture.bytes(at: 0, count: min(PictureFormat.headLength, Int(clamping: picture.size))) ?? []
        guard let format = PictureFormat.of(head) else { return nil }
        return switch format {
        case .jpeg: try jpegBlock(picture)
        case .tiff: 0
        case .png: try pngBlock(picture)
        case .webp: try webpBlock(picture)
        case .heic, .avif: try HeifExif.block(picture)
        case .gif: nil
        }
    }

    /// The offset of the TIFF block in the first APP1 segment with EXIF data.
    private static func jpegBlock(_ picture: PictureBytes) throws -> Int? {
        var at = 2
        for _ in 0..<10_000 {
            guard let head = try picture.bytes(at: at, count: 4), head[0] == 0xFF else { return nil }
            let marker = head[1]
            // Fill bytes before a marker, and markers without a length.
            if marker == 0xFF || marker == 0x01 || (0xD0...0xD7).contains(marker) {
                at += marker == 0xFF ? 1 : 2
                continue
            }
            // The image data begins, or the file ends.
            if marker == 0xDA || marker == 0xD9 { return nil }
            let length = Int(head[2]) << 8 | Int(head[3])
            guard length >= 2 else { return nil }
            if marker == 0xE1, length >= 8, try picture.bytes(at: at + 4, count: 6) == mark { return at + 10 }
            at += 2 + length
        }
        return nil
    }

    private static func pngBlock(_ picture: PictureBytes) throws -> Int? {
        try chunk("eXIf", in: picture, from: 8) { head in
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            return (name: head[4...], step: 12 + length)
        }
    }

    private static func webpBlock(_ picture: PictureBytes) throws -> Int? {
        let block = try chunk("EXIF", in: picture, from: 12) { head in
            let length = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            return (name: head[..<4], step: 8 + length + length % 2)
        }
        // Some writers put JPEG's own mark before the block.
        guard let block, try picture.bytes(at: block, count: 6) == mark else { return block }
        return block + 6
    }

    private static let mark = Array("Exif".utf8) + [0, 0]

    /// The offset of the data of the first chunk of that name; both formats have an eight-byte header before it.
    private static func chunk(
        _ name: String, in picture: PictureBytes, from start: Int,
        _ header: (ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, step: Int)
    ) throws -> Int? {
        var at = start
        for _ in 0..<100_000 {
            guard let head = try picture.bytes(at: at, count: 8) else { return nil }
            let found = header(head[...])
            if found.name.elementsEqual(name.utf8) { return at + 8 }
            at += found.step
        }
        return nil
    }
}
