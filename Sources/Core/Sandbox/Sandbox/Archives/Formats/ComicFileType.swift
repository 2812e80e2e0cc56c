import Platform

/// What a file of a library is, by the ending that fits it: `cbz`, `zip`, `pdf`, `jpg`. The strings stand in stored data,
/// and do not change.
package struct ComicFileType: RawRepresentable, Hashable, Sendable, Codable {
    package let rawValue: String
    package let family: Family

    /// What the type is read with.
    package enum Family: Hashable, Sendable {
        /// Of all versions of RAR the first.
        case archive(ArchiveFormat)
        case ace, image, folder, unknown
    }

    package static let folder = ComicFileType("folder", .folder)
    package static let unknown = ComicFileType("unknown", .unknown)

    /// Bytes of a file's start that ``detect(head:name:isDirectory:)`` wants to see.
    package static let headLength = ArchiveFormat.headLength

    private static let families: [String: Family] = ArchiveFormat.endings.mapValues(Family.archive).merging(
        PictureFormat.allCases.flatMap(\.endings).map { ($0, Family.image) } + [
            ("cba", .ace), (folder.rawValue, .folder), (unknown.rawValue, .unknown),
        ]
    ) { first, _ in first }

    private init(_ rawValue: String, _ family: Family) { (self.rawValue, self.family) = (rawValue, family) }

    package init?(rawValue: String) {
        guard let family = Self.families[rawValue] else { return nil }
        self.init(rawValue, family)
    }

    /// - Parameter asComic: whether a plain archive gets a comic's ending.
    package init(_ format: ArchiveFormat, asComic: Bool) {
        let plain = format.traits.ending
        self = ComicFileType(rawValue: asComic ? format.traits.comicEnding ?? plain : plain) ?? .unknown
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

    /// The archive's format; nil for what is none, and for PDF and EPUB.
    package var archive: ArchiveFormat? {
        guard case .archive(let format) = family, format.traits.comicEnding != nil else { return nil }
        return format
    }

    /// Whether its ending is that of comics alone, as `cbz` is.
    package var isComic: Bool { family == .ace || archive?.traits.comicEnding == rawValue }

    /// Tells a file by its first bytes; the name only chooses between the spellings of what the bytes are (`cbz` or
    /// `zip`), and decides alone where the bytes say nothing. So a RAR that is called `.cbz` is `cbr`.
    ///
    /// - Parameter head: the file's first ``headLength`` bytes, or all of them.
    package static func detect(
        head: some Collection<UInt8>, name: some BidirectionalCollection<UInt8>, isDirectory: Bool
    ) -> ComicFileType {
        if isDirectory { return .folder }
        let claimed = ComicFileType(name: name)
        switch family(of: head) {
        case .image: return PictureFormat.of(head)?.spelling(claimed) ?? claimed
        case .archive(let format):
            let found = ComicFileType(format, asComic: claimed.isComic)
            return found.family == claimed.family ? claimed : found
        case .ace, .folder, .unknown, nil: return claimed
        }
    }

    /// What the bytes are, without regard to any name; nil where they do not tell.
    package static func family(of head: some Collection<UInt8>) -> Family? {
        let bytes = Array(head.prefix(headLength))
        let format = ArchiveFormat.detect(bytes)
        if format != .unknown { return .archive(format) }
        if bytes.dropFirst(7).starts(with: "**ACE**".utf8) { return .ace }
        return PictureFormat.of(bytes) == nil ? nil : .image
    }
}

extension PictureFormat {
    /// What its files end in, the usual ending first.
    fileprivate var endings: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg"]
        case .tiff: ["tiff", "tif"]
        case .heic: ["heic", "heif"]
        case .png, .gif, .webp, .avif: [rawValue]
        }
    }

    /// The format's file type, in the spelling that the name has where that is one of its own.
    fileprivate func spelling(_ claimed: ComicFileType) -> ComicFileType? {
        endings.contains(claimed.rawValue) ? claimed : ComicFileType(rawValue: endings[0])
    }
}
