/// The formats of pictures, detected by their first bytes, never by name.
package enum PictureFormat: String, Sendable, Codable, CaseIterable {
    case png, jpeg, gif, webp, tiff, heic, avif

    /// How many leading bytes ``of(_:)`` looks at; 12 are nearly always enough.
    package static let headLength = 64

    /// - Returns: nil for an unknown format.
    package static func of(_ head: some Collection<UInt8>) -> PictureFormat? {
        let bytes = Array(head.prefix(headLength))
        func holds(_ wanted: [UInt8], at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: wanted) }
        func holds(_ wanted: String, at offset: Int) -> Bool { holds(Array(wanted.utf8), at: offset) }
        if holds([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) { return .png }
        if holds([0xFF, 0xD8, 0xFF], at: 0) { return .jpeg }
        if holds("GIF87a", at: 0) || holds("GIF89a", at: 0) { return .gif }
        if holds("RIFF", at: 0), holds("WEBP", at: 8) { return .webp }
        if holds([0x49, 0x49, 0x2A, 0x00], at: 0) || holds([0x4D, 0x4D, 0x00, 0x2A], at: 0) { return .tiff }
        guard holds("ftyp", at: 4) else { return nil }
        // The major brand and, after a version, the compatible brands, to the end of the box.
        let end = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let brands = [8] + Array(stride(from: 16, to: min(headLength, end), by: 4))
        if brands.contains(where: { holds("avif", at: $0) || holds("avis", at: $0) }) { return .avif }
        let heic = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
        return brands.contains { brand in heic.contains { holds($0, at: brand) } } ? .heic : nil
    }
}
