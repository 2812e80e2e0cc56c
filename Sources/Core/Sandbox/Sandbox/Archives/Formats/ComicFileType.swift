import Platform

/// What a file of a library is; the raw strings stand in stored data, and do not change.
package enum ComicFileType: String, CaseIterable, Sendable, Codable {
    case cbz, cbr, cb7, cbt, cba
    case zip, rar, tar
    case sevenZip = "7z"
    case pdf, epub
    case png, jpg, jpeg, webp, tiff, tif, gif, heic, heif, avif
    case folder, unknown

    /// Bytes of a file's start that ``detect(head:name:isDirectory:)`` wants to see.
    package static let headLength = 1024

    /// What the type is read with.
    package enum Family: String, Sendable, Codable {
        case zip, rar, sevenZip, tar, ace, pdf, epub, image, folder, unknown
    }

    package var family: Family {
        switch self {
        case .cbz, .zip: .zip
        case .cbr, .rar: .rar
        case .cb7, .sevenZip: .sevenZip
        case .cbt, .tar: .tar
        case .cba: .ace
        case .pdf: .pdf
        case .epub: .epub
        case .png, .jpg, .jpeg, .webp, .tiff, .tif, .gif, .heic, .heif, .avif: .image
        case .folder: .folder
        case .unknown: .unknown
        }
    }

    /// The type that a name's extension claims, case-insensitive.
    package init(name: some BidirectionalCollection<UInt8>) {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            self = .unknown
            return
        }
        let text = String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased()
        let found = ComicFileType(rawValue: text) ?? .unknown
        self = found == .folder ? .unknown : found
    }

    /// Tells a file by its first bytes; the name only chooses between the spellings of what the bytes are (`cbz` or
    /// `zip`), and decides alone where the bytes say nothing. So a RAR that is called `.cbz` is `cbr`.
    ///
    /// - Parameter head: the file's first ``headLength`` bytes, or all of them.
    package static func detect(
        head: some Collection<UInt8>, name: some BidirectionalCollection<UInt8>, isDirectory: Bool
    ) -> ComicFileType {
        if isDirectory { return .folder }
        let claimed = ComicFileType(name: name)
        let bytes = Array(head.prefix(headLength))
        guard let family = family(of: bytes) else { return claimed }
        if family == .image {
            guard let format = PictureFormat.of(bytes) else { return claimed }
            return format.spelling(claimed)
        }
        if family == claimed.family { return claimed }
        let isComic = [.zip, .rar, .sevenZip, .tar, .ace].contains(claimed.family) && claimed.rawValue.hasPrefix("cb")
        switch family {
        case .zip: return isComic ? .cbz : .zip
        case .rar: return isComic ? .cbr : .rar
        case .sevenZip: return isComic ? .cb7 : .sevenZip
        case .tar: return isComic ? .cbt : .tar
        case .pdf: return .pdf
        case .epub: return .epub
        case .ace, .image, .folder, .unknown: return claimed
        }
    }

    /// What the bytes are, without regard to any name; nil where they do not tell.
    package static func family(of head: some Collection<UInt8>) -> Family? {
        let bytes = Array(head.prefix(headLength))
        if bytes.starts(with: Array("PK".utf8)), bytes.count >= 4,
            [[3, 4], [5, 6], [7, 8]].contains([bytes[2], bytes[3]])
        {
            return isEPUB(bytes) ? .epub : .zip
        }
        if bytes.starts(with: Array("Rar!".utf8) + [0x1A, 0x07]) { return .rar }
        if bytes.starts(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) { return .sevenZip }
        if bytes.starts(with: Array("%PDF".utf8)) { return .pdf }
        if bytes.dropFirst(7).starts(with: Array("**ACE**".utf8)) { return .ace }
        if PictureFormat.of(bytes) != nil { return .image }
        return isTar(bytes) ? .tar : nil
    }

    /// An EPUB's first entry is `mimetype`, stored, with the media type as its content.
    private static func isEPUB(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 58, bytes[2] == 3, bytes[8] == 0, bytes[9] == 0 else { return false }
        let nameLength = Int(bytes[26]) | Int(bytes[27]) << 8
        let extraLength = Int(bytes[28]) | Int(bytes[29]) << 8
        return nameLength == 8 && bytes[30...].starts(with: Array("mimetype".utf8))
            && bytes.dropFirst(38 + extraLength).starts(with: Array("application/epub+zip".utf8))
    }

    /// A first header whose checksum is right: `ustar` alone is missing in old archives.
    private static func isTar(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 512, bytes[0] != 0 else { return false }
        let digits = bytes[148..<156].drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        guard !digits.isEmpty, let stated = Int(String(decoding: digits, as: UTF8.self), radix: 8) else { return false }
        let sum = bytes[..<512].enumerated().reduce(0) { total, byte in
            total + ((148..<156).contains(byte.offset) ? 0x20 : Int(byte.element))
        }
        return sum == stated
    }
}

extension PictureFormat {
    /// The format's file type, in the spelling that the name has where that is one of its own.
    fileprivate func spelling(_ claimed: ComicFileType) -> ComicFileType {
        switch self {
        case .png: .png
        case .jpeg: claimed == .jpeg ? .jpeg : .jpg
        case .gif: .gif
        case .webp: .webp
        case .tiff: claimed == .tif ? .tif : .tiff
        case .heic: claimed == .heif ? .heif : .heic
        case .avif: .avif
        }
    }
}
