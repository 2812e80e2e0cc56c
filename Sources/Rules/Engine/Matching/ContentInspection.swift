import Platform

/// What can be found in a file by a parser; each is looked for by itself.
package enum ContentAspect: String, Sendable, CaseIterable {
    /// The text, title, author and pages of a document.
    case document
    /// What a camera wrote into a picture, and its size.
    case picture
    /// Tags, length and size of sound and films.
    case media
    /// The names of what an archive holds.
    case entries
    /// The language of the text.
    case language
}

/// What was found in a file.
package struct ContentFindings: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// As the archive has it, for people and patterns.
        package let path: String
        package let isFolder: Bool
        package let isEncrypted: Bool

        package init(path: String, isFolder: Bool, isEncrypted: Bool) {
            (self.path, self.isFolder, self.isEncrypted) = (path, isFolder, isEncrypted)
        }
    }

    /// By the names that templates use: `photo.model`.
    package var values: Values
    /// The same as they were found: a moment as the camera's clock showed it, a length with its milliseconds.
    package var written: [String: String]
    /// The text, or its first mebibyte.
    package var text: String?
    /// Where each page of the text ends, in bytes of its UTF-8; nil where that is not known.
    package var pageEnds: [Int]?
    package var entries: [Entry]
    /// Whether there is more than was looked at.
    package var isCut: Bool
    /// Why nothing was found, for people; nil where the file was read.
    package var trouble: String?

    package init(
        values: Values = [:], written: [String: String] = [:], text: String? = nil, pageEnds: [Int]? = nil,
        entries: [Entry] = [], isCut: Bool = false, trouble: String? = nil
    ) {
        (self.values, self.written, self.text, self.entries) = (values, written, text, entries)
        (self.pageEnds, self.isCut, self.trouble) = (pageEnds, isCut, trouble)
    }

    /// In ``Fault/code`` of what an inspector throws that does not look into the file now: what was asked is to be asked
    /// again when it may.
    package static let later = "content-later"

    /// The text of each page, without blanks at its ends; nil where pages are not known.
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

/// Looks into files with parsers; the engine knows none, and none runs in its process.
package protocol ContentInspector: Sendable {
    /// What is found in an open file. Blocks, but not for ever.
    ///
    /// - Parameters:
    ///   - mime: what it is by its first bytes and its name.
    ///   - hash: of the content, where it is known.
    /// - Returns: also where the file is damaged or hostile: ``ContentFindings/trouble`` says so.
    /// - Throws: `Fault` where the machine is at fault: it may be asked again; with the code ``ContentFindings/later`` where it
    ///   is not looked into now.
    func inspect(
        _ aspect: ContentAspect, of file: Descriptor, mime: String, hash: ContentHash?
    ) throws -> ContentFindings
}

extension FileFacts {
    /// What a parser finds in the file; nil where it is nothing of the kind, which its first bytes tell. Blocks.
    ///
    /// - Throws: `Fault` where the file cannot be read, or nobody can look into it now.
    package func findings(_ aspect: ContentAspect) throws -> ContentFindings? {
        if let known = inspected[aspect] { return known }
        guard let head = try firstBytes(), let file = try open() else { return nil }
        let found = try kind()
        guard aspect.mayBeIn(found, head) else { return nil }
        if aspect == .document, [.note, .text, .link].contains(found.kind), found.mime != "text/html" {
            // What has no markup takes no parser.
            return ContentFindings(text: try text(), isCut: status.map { $0.size > Int64(Self.textLimit) } ?? false)
        }
        guard let inspector = sources.inspector else { return ContentFindings(trouble: "nobody looks into files here") }
        let findings = try inspector.inspect(aspect, of: file, mime: found.mime, hash: knownHash)
        inspected[aspect] = findings
        return findings
    }
}

extension ContentAspect {
    /// Whether a parser is asked at all; reads nothing.
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

    /// Whether it begins as UTF-16 does.
    private static func isWide(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0xFE]) && !head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0xFE, 0xFF])
    }

    /// Whether it begins as sound or a film does.
    private static func isMedia(_ head: [UInt8]) -> Bool {
        let marks: [(Int, [UInt8])] = [
            (0, Array("ID3".utf8)), (0, Array("fLaC".utf8)), (0, Array("OggS".utf8)), (8, Array("WAVE".utf8)),
            (8, Array("AVI ".utf8)), (4, Array("ftyp".utf8)), (0, [0x1A, 0x45, 0xDF, 0xA3]), (0, Array("FORM".utf8)),
            (0, Array("MAC ".utf8)), (0, Array("wvpk".utf8)), (0, Array("MPCK".utf8)), (0, Array("TTA1".utf8)),
            (0, Array("DSD ".utf8)), (0, [0x30, 0x26, 0xB2, 0x75]),
        ]
        // MPEG audio without tags: eleven ones, then a version, layer, rate and frequency that there are.
        let isFrame =
            head.count > 3 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0 && head[1] & 0x18 != 0x08
            && head[1] & 0x06 != 0 && head[2] & 0xF0 != 0xF0 && head[2] & 0x0C != 0x0C
        return isFrame || marks.contains { head.dropFirst($0).starts(with: $1) }
    }
}
