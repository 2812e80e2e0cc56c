/// The kinds of picture that a capture can be, told by their first bytes, never by their name.
package enum PhotoFormat: String, CaseIterable, Sendable {
    case jpeg = "jpg"
    case png
    case gif
    case webp
    case tiff = "tif"
    case heic
    case avif

    /// Of its file in the store.
    package var fileExtension: String { rawValue }

    /// - Parameter head: at least 12 bytes, else nil.
    package static func detect(_ head: some Collection<UInt8>) -> PhotoFormat? {
        let bytes = Array(head.prefix(12))
        guard bytes.count == 12 else { return nil }
        func holds(_ text: String, at offset: Int) -> Bool { bytes[offset...].starts(with: Array(text.utf8)) }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if holds("GIF87a", at: 0) || holds("GIF89a", at: 0) { return .gif }
        if holds("RIFF", at: 0), holds("WEBP", at: 8) { return .webp }
        if bytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) {
            return .tiff
        }
        guard holds("ftyp", at: 4) else { return nil }
        if ["avif", "avis"].contains(where: { holds($0, at: 8) }) { return .avif }
        let brands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
        return brands.contains { holds($0, at: 8) } ? .heic : nil
    }
}
