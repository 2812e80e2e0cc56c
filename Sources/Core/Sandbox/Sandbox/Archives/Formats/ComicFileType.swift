import Platform

/// The type of a file in a library, named by its proper extension: `cbz`, `zip`, `pdf`, `jpg`. The strings are part of
/// stored data and must not change.
package struct ComicFileType: RawRepresentable, Hashable, Sendable, Codable {
    package let rawValue: String
    package let family: Family

    /// How files of the type are read.
    package enum Family: Hashable, Sendable {
        /// For every version of RAR, the first one.
        case archive(ArchiveFormat)
        case ace, image, folder, unknown
    }

    package static let folder = ComicFileType("folder", .folder)
    package static let unknown = ComicFileType("unknown", .unknown)

    /// How many leading bytes ``detect(head:name:isDirectory:)`` needs.
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

    /// - Parameter asComic: whether a plain archive gets a comic's extension.
    package init(_ format: ArchiveFormat, asComic: Bool) {
        let plain = format.traits.ending
        self = ComicFileType(rawValue: asComic ? format.traits.comicEnding ?? plain : plain) ?? .unknown
    }

    /// The type claimed by a name's extension, case-insensitive.
    package init(name: some BidirectionalCollection<UInt8>) {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            self = .unknown
            return
        }
        let text = String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased()
        let found = ComicFileType(rawValue: text) ?? .unknown
        self = found == .folder ? .unknown : found
    }

    /// The archive's format; nil for other files, and for PDF and EPUB.
    package var archive: ArchiveFormat? {
        guard case .archive(let format) = family, format.traits.comicEnding != nil else { return nil }
        return format
    }

    /// Whether only comics have its extension, as with `cbz`.
    package var isComic: Bool { family == .ace || archive?.traits.comicEnding == rawValue }

    /// Detects a file's type by its first bytes. The name only chooses between spellings of that type (`cbz` or `zip`),
    /// and decides alone if the bytes are inconclusive. So a RAR named `.cbz` is `cbr`.
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

    /// The family of the bytes, regardless of any name; nil if they are inconclusive.
    package static func family(of head: some Collection<UInt8>) -> Family? {
        let bytes = Array(head.prefix(headLength))
        let format = ArchiveFormat.detect(bytes)
        if format != .unknown { return .archive(format) }
        if bytes.dropFirst(7).starts(with: "**ACE**".utf8) { return .ace }
        return PictureFormat.of(bytes) == nil ? nil : .image
    }
}

extension PictureFormat {
    /// Its extensions, the usual one first.
    fileprivate var endings: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg"]
        case .tiff: ["tiff", "tif"]
        case .heic: ["heic", "heif"]
        case .png, .gif, .webp, .avif: [rawValue]
        }
    }

    /// The format's file type, in the name's spelling if the format has that.
    fileprivate func spelling(_ claimed: ComicFileType) -> ComicFileType? {
        endings.contains(claimed.rawValue) ? claimed : ComicFileType(rawValue: endings[0])
    }
}
