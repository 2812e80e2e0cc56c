import Platform

/// The paragraphs that advisors have read, so that only changed ones are sent to them again.
package struct ReadParagraphs: Codable, Sendable, Equatable {
    /// Whatever else an answer depends on: advisors, model, stage. With others, everything is unread.
    package let settings: ContentHash
    /// The beginnings of the paragraphs' hashes, in hexadecimal.
    private let hashes: Set<String>

    private enum CodingKeys: CodingKey { case settings, hashes }

    /// All paragraphs of a draft.
    package init(of draft: DraftText, settings: ContentHash) {
        self.settings = settings
        hashes = Set(Self.paragraphs(of: draft).map { Self.hash(draft, $0) })
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        settings = try container.decode(ContentHash.self, forKey: .settings)
        hashes = Set(try container.decode([String].self, forKey: .hashes))
    }

    /// Sorted, so that equal states are equal bytes.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(settings, forKey: .settings)
        try container.encode(hashes.sorted(), forKey: .hashes)
    }

    /// The parts of a draft that are not among them, adjacent paragraphs as one.
    ///
    /// - Returns: nil if that is all of it, or the settings differ: then the draft is read as a whole.
    package func unread(in draft: DraftText, settings: ContentHash) -> [Range<Int>]? {
        guard settings == self.settings else { return nil }
        var parts: [Range<Int>] = []
        var isUnreadBefore = false
        var hasRead = false
        for paragraph in Self.paragraphs(of: draft) {
            let isUnread = !hashes.contains(Self.hash(draft, paragraph))
            hasRead = hasRead || !isUnread
            if isUnread {
                let start = isUnreadBefore ? parts.popLast()?.lowerBound : nil
                parts.append((start ?? paragraph.lowerBound)..<paragraph.upperBound)
            }
            isUnreadBefore = isUnread
        }
        return hasRead ? parts : nil
    }

    /// Lines without an empty one between them.
    private static func paragraphs(of draft: DraftText) -> [Range<Int>] {
        var paragraphs: [Range<Int>] = []
        var start: Int?
        for line in 1...draft.lineCount {
            let range = draft.range(ofLine: line)
            if draft.scalars[range].allSatisfy(\.properties.isWhitespace) {
                if let first = start { paragraphs.append(first..<range.lowerBound) }
                start = nil
            } else {
                start = start ?? range.lowerBound
            }
        }
        if let start { paragraphs.append(start..<draft.count) }
        return paragraphs
    }

    /// Without trailing blanks, so that the last line's ending does not matter.
    private static func hash(_ draft: DraftText, _ paragraph: Range<Int>) -> String {
        var end = paragraph.upperBound
        while end > paragraph.lowerBound, draft.scalars[end - 1].properties.isWhitespace { end -= 1 }
        return String(ContentHash(of: draft[paragraph.lowerBound..<end].utf8).description.prefix(16))
    }
}
