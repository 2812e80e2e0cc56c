import Platform

/// The kind of a file's content, as the condition `kind` names it.
package enum ContentKind: String, Sendable, Codable, CaseIterable {
    case note, text, link, image, comic, pdf, archive, other

    package struct Detected: Sendable, Equatable {
        package let kind: ContentKind
        package let mime: String

        package init(_ kind: ContentKind, _ mime: String) {
            self.kind = kind
            self.mime = mime
        }
    }

    /// The number of bytes that ``detect(_:size:name:)`` looks at.
    package static let headLength = 4_096

    private static let linkExtensions = [
        "url": "application/x-mswinurl", "webloc": "application/x-webloc", "desktop": "application/x-desktop",
    ]

    /// - Parameters:
    ///   - head: the file's first ``headLength`` bytes, or all of a shorter file.
    ///   - size: of the whole file, in bytes.
    ///   - name: the file's name.
    package static func detect(_ head: [UInt8], size: Int64, name: BytePath) -> Detected {
        let suffix = String(decoding: name.stemAndExtension.extension ?? [], as: UTF8.self).lowercased()
        if let archive = archive(head, suffix) { return archive }
        if let picture = PictureFormat.of(head) { return Detected(.image, mime(picture, head)) }
        if suffix == "webloc", head.starts(with: Array("bplist00".utf8)), contains("://", head) {
            return Detected(.link, "application/x-webloc")
        }
        guard let text = text(head, isWhole: Int64(head.count) >= size) else {
            return Detected(.other, "application/octet-stream")
        }
        if let mime = linkExtensions[suffix], contains("://", head) { return Detected(.link, mime) }
        if suffix == "md" || suffix == "markdown" { return Detected(.note, "text/markdown") }
        if Int64(head.count) >= size, isOneLink(text) { return Detected(.link, "text/uri-list") }
        return Detected(.text, suffix == "html" || suffix == "htm" ? "text/html" : "text/plain")
    }

    private static func archive(_ head: [UInt8], _ suffix: String) -> Detected? {
        let format = ArchiveFormat.detect(head)
        let traits = format.traits
        switch format {
        case .unknown: return Compression.detect(head).map { Detected(.archive, $0.mediaType) }
        case .pdf: return Detected(.pdf, traits.mediaType)
        case .epub: return Detected(.other, traits.mediaType)
        default:
            let isComic = ArchiveFormat.archives.contains { $0.traits.comicEnding == suffix }
            guard isComic, let comicType = traits.comicMediaType else { return Detected(.archive, traits.mediaType) }
            return Detected(.comic, comicType)
        }
    }

    private static func mime(_ picture: PictureFormat, _ head: [UInt8]) -> String {
        // These brands do not say which codec the picture uses.
        let isPlain = ["mif1", "msf1"].contains { head.dropFirst(8).starts(with: $0.utf8) }
        return picture == .heic && isPlain ? "image/heif" : "image/\(picture.rawValue)"
    }

    /// `head` as text, if it is UTF-8 without control characters; the last character may be truncated.
    package static func text(_ head: [UInt8], isWhole: Bool) -> String? {
        let controls = head.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D && $0 != 0x0C && $0 != 0x1B }
        if controls { return nil }
        for cut in 0...(isWhole ? 0 : 3) {
            if let text = String(validating: head.dropLast(cut), as: UTF8.self) { return text }
        }
        return nil
    }

    private static func contains(_ text: String, _ head: [UInt8]) -> Bool {
        head.firstRange(of: Array(text.utf8)) != nil
    }

    /// Whether the text is a single web address and nothing else.
    private static func isOneLink(_ text: String) -> Bool {
        let trimmed = text.trimmedSpaces
        guard trimmed.count > 8, !trimmed.contains(where: { $0.isWhitespace || $0 == "<" || $0 == ">" }) else {
            return false
        }
        let lower = trimmed.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else { return false }
        return lower.dropFirst(scheme.count).first.map { $0.isLetter || $0.isNumber || $0 == "[" } ?? false
    }
}
