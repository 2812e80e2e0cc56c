import Platform

/// Properties that a parser can find in a file, each requested separately: each costs a process.
package enum ContentAspect: String, Sendable, CaseIterable {
    /// Text, title, author and pages of a document.
    case document
    /// Camera metadata and size of a picture.
    case picture
    /// Tags, duration and size of audio and video.
    case media
    /// Names of an archive's entries.
    case entries
    /// Language of the text.
    case language
}

/// The result of an inspection.
package struct ContentFindings: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// The path in the archive, for people and patterns.
        package let path: String
        package let isFolder: Bool
        package let isEncrypted: Bool

        package init(path: String, isFolder: Bool, isEncrypted: Bool) {
            (self.path, self.isFolder, self.isEncrypted) = (path, isFolder, isEncrypted)
        }
    }

    /// By their template names: `photo.model`.
    package var values: Values
    /// The unrounded originals: a time as the camera's clock had it, a duration in milliseconds.
    package var written: [String: String]
    /// The text, up to one mebibyte.
    package var text: String?
    /// Byte offsets in the UTF-8 text at which pages end; nil if not known.
    package var pageEnds: [Int]?
    package var entries: [Entry]
    /// Whether there is more than was inspected.
    package var isCut: Bool
    /// Why nothing was found, for people; nil if the file could be read.
    package var trouble: String?

    package init(
        values: Values = [:], written: [String: String] = [:], text: String? = nil, pageEnds: [Int]? = nil,
        entries: [Entry] = [], isCut: Bool = false, trouble: String? = nil
    ) {
        (self.values, self.written, self.text, self.entries) = (values, written, text, entries)
        (self.pageEnds, self.isCut, self.trouble) = (pageEnds, isCut, trouble)
    }

    /// The ``Fault/code`` thrown by an inspector that cannot inspect the file now; to be retried later.
    package static let later = "content-later"

    /// The trimmed text of each page; nil if pages are not known.
    package var pages: [String]? {
        guard let text, let pageEnds else { return nil }
        var start = text.utf8.startIndex
        return pageEnds.map { end in
            let end = max(
                start, text.utf8.index(text.startIndex, offsetBy: end, limitedBy: text.endIndex) ?? text.endIndex)
            defer { start = end }
            return String(decoding: text.utf8[start..<end], as: UTF8.self).trimmedSpaces
        }
    }
}

/// Inspects files with parsers. The engine knows none, and none runs in its process.
package protocol ContentInspector: Sendable {
    /// Inspects an open file. Blocks, but not indefinitely.
    ///
    /// - Parameters:
    ///   - mime: the type detected from its first bytes and its name.
    ///   - hash: of the content, if known.
    /// - Returns: the findings, also for a damaged or hostile file: see ``ContentFindings/trouble``.
    /// - Throws: `Fault` for an error of the machine, which may be retried; with the code ``ContentFindings/later``
    ///   if the file cannot be inspected now.
    func inspect(
        _ aspect: ContentAspect, of file: Descriptor, mime: String, hash: ContentHash?
    ) throws -> ContentFindings
}

extension FileFacts {
    /// A parser's findings about the file; nil if its first bytes rule that aspect out. Blocks.
    ///
    /// - Throws: `Fault` if the file cannot be read, or cannot be inspected now.
    package func findings(_ aspect: ContentAspect) throws -> ContentFindings? {
        if let known = inspected[aspect] { return known }
        guard let head = try firstBytes(), let file = try open() else { return nil }
        let found = try kind()
        guard aspect.mayBeIn(found, head) else { return nil }
        if aspect == .document, [.note, .text, .link].contains(found.kind), found.mime != "text/html" {
            // Plain text needs no parser.
            return ContentFindings(text: try text(), isCut: status.map { $0.size > Int64(Self.textLimit) } ?? false)
        }
        guard let inspector = sources.inspector else { return ContentFindings(trouble: "nobody looks into files here") }
        let findings = try inspector.inspect(aspect, of: file, mime: found.mime, hash: knownHash)
        inspected[aspect] = findings
        return findings
    }
}

extension ContentAspect {
    /// Whether a parser is needed at all; reads nothing.
    func mayBeIn(_ found: ContentKind.Detected, _ head: [UInt8]) -> Bool {
        switch self {
        case .document, .language:
            switch found.kind {
            case .note, .text, .link, .pdf: true
            case .archive, .other: head.starts(with: [0x50, 0x4B]) || Self.isWide(head)
            case .image, .comic: false
            }
        case .picture: found.kind == .image
        case .media: found.kind == .other && Self.isMedia(head)
        case .entries: [.archive, .comic].contains(found.kind) || found.mime == "application/epub+zip"
        }
    }

    /// Whether it begins with a UTF-16 byte order mark.
    private static func isWide(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0xFE]) && !head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0xFE, 0xFF])
    }

    /// Whether it begins like audio or video.
    private static func isMedia(_ head: [UInt8]) -> Bool {
        let marks: [(Int, [UInt8])] = [
            (0, Array("ID3".utf8)), (0, Array("fLaC".utf8)), (0, Array("OggS".utf8)), (8, Array("WAVE".utf8)),
            (8, Array("AVI ".utf8)), (4, Array("ftyp".utf8)), (0, [0x1A, 0x45, 0xDF, 0xA3]), (0, Array("FORM".utf8)),
            (0, Array("MAC ".utf8)), (0, Array("wvpk".utf8)), (0, Array("MPCK".utf8)), (0, Array("TTA1".utf8)),
            (0, Array("DSD ".utf8)), (0, [0x30, 0x26, 0xB2, 0x75]),
        ]
        // MPEG audio without tags: eleven set bits, then valid version, layer, bit rate and frequency.
        let isFrame =
            head.count > 3 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0 && head[1] & 0x18 != 0x08
            && head[1] & 0x06 != 0 && head[2] & 0xF0 != 0xF0 && head[2] & 0x0C != 0x0C
        return isFrame || marks.contains { head.dropFirst($0).starts(with: $1) }
    }
}
