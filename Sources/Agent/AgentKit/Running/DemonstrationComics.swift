import Platform

/// The demo's comics: real archives, created on the spot.
enum DemonstrationComics {
    /// The first drop: a good archive, one with a damaged page, and one that tries to write outside its folder.
    static let files: [(BytePath, [UInt8])] = [
        ("comics/Saga 001.cbz", ZipWriter.archive(pages(3) + [("ComicInfo.xml", Array(information.utf8))])),
        ("comics/Saga 002.cbz", damaged(ZipWriter.archive(pages(2)))),
        ("comics/Free comic.cbz", ZipWriter.archive(pages(1) + [("../../.bashrc", Array("echo harm\n".utf8))])),
    ]

    /// The first one again, under another name.
    static let duplicate: (BytePath, [UInt8]) = ("comics/download (7).cbz", files[0].1)

    /// For the vault.
    static func night(_ number: Int) -> [UInt8] { ZipWriter.archive(pages(number + 3)) }

    private static let information = """
        <?xml version="1.0" encoding="utf-8"?>
        <ComicInfo><Title>The Gate</Title><Series>Saga</Series><Number>1</Number><Year>2026</Year></ComicInfo>
        """

    /// The smallest possible PNG.
    static let pixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 13, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x00, 0x01, 0, 0, 5,
        0, 1, 0x0D, 0x0A, 0x2D, 0xB4, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    private static func pages(_ count: Int) -> [(name: String, bytes: [UInt8])] {
        (1...count).map { ("0\($0).png", pixel) }
    }

    /// Flips a bit in the first page's picture: the size stays right, the checksum becomes wrong.
    private static func damaged(_ archive: [UInt8]) -> [UInt8] {
        var bytes = archive
        bytes[30 + "01.png".utf8.count + 45] ^= 0x40
        return bytes
    }
}
