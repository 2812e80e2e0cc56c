import Platform

/// What a file is by its content, as the condition `kind` names it.
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

    /// How many bytes of a file ``detect(_:size:name:)`` looks at.
    package static let headLength = 4_096

    private struct Magic: Sendable {
        let offset: Int
        let bytes: [UInt8]
        let found: Detected

        init(_ offset: Int, _ bytes: [UInt8], _ kind: ContentKind, _ mime: String) {
            self.offset = offset
            self.bytes = bytes
            found = Detected(kind, mime)
        }

        init(_ offset: Int, _ text: String, _ kind: ContentKind, _ mime: String) {
            self.init(offset, Array(text.utf8), kind, mime)
        }

        func matches(_ head: [UInt8]) -> Bool { head.dropFirst(offset).starts(with: bytes) }
    }

    /// The first that matches counts.
    private static let magics: [Magic] = [
        Magic(30, "mimetypeapplication/epub+zip", .other, "application/epub+zip"),
        Magic(0, [0x50, 0x4B, 0x03, 0x04], .archive, "application/zip"),
        Magic(0, [0x50, 0x4B, 0x05, 0x06], .archive, "application/zip"),
        Magic(0, [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x00], .archive, "application/vnd.rar"),
        Magic(0, [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07, 0x01, 0x00], .archive, "application/vnd.rar"),
        Magic(0, [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .archive, "application/x-7z-compressed"),
        Magic(257, "ustar", .archive, "application/x-tar"),
        Magic(0, [0x1F, 0x8B], .archive, "application/gzip"),
        Magic(0, "BZh", .archive, "application/x-bzip2"),
        Magic(0, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .archive, "application/x-xz"),
        Magic(0, [0x28, 0xB5, 0x2F, 0xFD], .archive, "application/zstd"),
        Magic(0, "%PDF-", .pdf, "application/pdf"),
    ]

    /// Archives with these names are comics, and their MIME types by the archive's.
    private static let comicExtensions: Set<String> = ["cbz", "cbr", "cb7", "cbt"]
    private static let comicTypes = [
        "application/zip": "application/vnd.comicbook+zip", "application/vnd.rar": "application/vnd.comicbook-rar",
        "application/x-7z-compressed": "application/x-cb7", "application/x-tar": "application/x-cbt",
    ]
    private static let linkExtensions = [
        "url": "application/x-mswinurl", "webloc": "application/x-webloc", "desktop": "application/x-desktop",
    ]

    /// - Parameters:
    ///   - head: the file's first ``headLength`` bytes, or all of a shorter one.
    ///   - size: of the whole file, in bytes.
    ///   - name: the file's name.
    package static func detect(_ head: [UInt8], size: Int64, name: BytePath) -> Detected {
        let suffix = String(decoding: name.stemAndExtension.extension ?? [], as: UTF8.self).lowercased()
        if let magic = magics.first(where: { $0.matches(head) }) {
            if comicExtensions.contains(suffix), let mime = comicTypes[magic.found.mime] {
                return Detected(.comic, mime)
            }
            return magic.found
        }
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

    private static func mime(_ picture: PictureFormat, _ head: [UInt8]) -> String {
        // Of these brands nobody can tell what packs the picture.
        let isPlain = ["mif1", "msf1"].contains { head.dropFirst(8).starts(with: $0.utf8) }
        return picture == .heic && isPlain ? "image/heif" : "image/\(picture.rawValue)"
    }

    /// The text that `head` is, if it is UTF-8 without control characters; the last character may be cut.
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

    /// Whether text is nothing but one web address.
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
