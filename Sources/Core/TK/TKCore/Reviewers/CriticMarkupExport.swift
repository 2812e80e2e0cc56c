import Platform

/// Writes findings into a copy of their draft, as CriticMarkup with comments that ``CriticMarkup`` reads back. Without
/// its marks the copy is the draft, and its blocks are the draft's.
package struct CriticMarkupExport: Sendable {
    /// The copy.
    package let text: String
    /// Findings that it does not hold, each with the reason, as the end of a sentence.
    package let leftOut: [(suggestion: Suggestion, reason: String)]

    private struct Entry {
        var mark: CriticMarkup.Mark
        var suggestions: [Suggestion]
    }

    /// - Parameter suggestions: the more important of two that overlap is written.
    package init(_ suggestions: [Suggestion], in draft: DraftText) {
        let resolver = AnchorResolver(draft)
        let mask = DraftMask(draft)
        var leftOut: [(suggestion: Suggestion, reason: String)] = []
        var entries: [Entry] = []
        for suggestion in suggestions.sorted(by: { Self.rank($0) < Self.rank($1) }) {
            guard let range = resolver.certainRange(of: suggestion.anchor), !range.isEmpty else {
                leftOut.append((suggestion, "its words are not in the draft, or in several places"))
                continue
            }
            guard !Self.isWithin(range.lowerBound, mask), !Self.isWithin(range.upperBound, mask) else {
                leftOut.append((suggestion, "it begins or ends within code or other marks"))
                continue
            }
            let comment = CriticMarkup.Comment(
                author: Self.author(suggestion.advisorID), text: Self.comment(suggestion.reasoning))
            if let index = entries.firstIndex(where: { $0.mark.range.overlaps(range) }) {
                if entries[index].mark.range == range, !suggestion.hasReplacement {
                    entries[index].mark.comments.append(comment)
                    entries[index].suggestions.append(suggestion)
                } else {
                    leftOut.append((suggestion, "it overlaps with another"))
                }
                continue
            }
            let mark = CriticMarkup.Mark(
                range: range, replacement: suggestion.hasReplacement ? suggestion.suggestedText : nil,
                comments: [comment], draftRange: range)
            entries.append(Entry(mark: mark, suggestions: [suggestion]))
        }
        let blocks = BlockStructure(draft.string)
        var kept: [Entry] = []
        func together(_ more: [Entry]) -> [Entry] {
            (kept + more).sorted { $0.mark.range.lowerBound < $1.mark.range.lowerBound }
        }
        // One check is usually enough; else those that break something are found by halves.
        var pending = [entries]
        while let batch = pending.popLast() {
            guard !batch.isEmpty else { continue }
            if Self.isFaithful(together(batch).map(\.mark), draft, blocks) {
                kept += batch
            } else if batch.count == 1 {
                leftOut += batch[0].suggestions.map { ($0, "CriticMarkup there would break the text") }
            } else {
                let half = batch.count / 2
                pending += [Array(batch[half...]), Array(batch[..<half])]
            }
        }
        text = Self.copy(together([]).map(\.mark), draft)
        self.leftOut = leftOut
    }

    /// By importance; a proposal before a remark about the same words, which then follows it as a comment.
    private static func rank(_ suggestion: Suggestion) -> (Int, Int, Int, Int, String) {
        let anchor = suggestion.anchor
        return (suggestion.priority, anchor.start, anchor.end, suggestion.hasReplacement ? 0 : 1, suggestion.id)
    }

    /// Whether a position is within code, a link's target or the like.
    private static func isWithin(_ offset: Int, _ mask: DraftMask) -> Bool {
        offset > 0 && mask.kind(at: offset).isKept && mask.kind(at: offset - 1) == mask.kind(at: offset)
    }

    /// Whether a copy with these marks reads back as the draft and the marks, with the same blocks.
    private static func isFaithful(
        _ marks: [CriticMarkup.Mark], _ draft: DraftText, _ blocks: BlockStructure
    ) -> Bool {
        let copy = copy(marks, draft)
        let read = CriticMarkup(copy, of: draft)
        return read.marks == marks && read.original.unicodeScalars.elementsEqual(draft.scalars)
            && BlockStructure(copy) == blocks
    }

    private static func copy(_ marks: [CriticMarkup.Mark], _ draft: DraftText) -> String {
        var text = ""
        var place = 0
        for mark in marks {
            text += draft[place..<mark.range.lowerBound]
            let words = draft[mark.range]
            switch mark.replacement {
            case nil: text += "{==\(words)==}"
            case ""?: text += "{--\(words)--}"
            case let replacement?: text += "{~~\(words)~>\(replacement)~~}"
            }
            for comment in mark.comments { text += "{>>@\(comment.author ?? ""): \(comment.text)<<}" }
            place = mark.range.upperBound
        }
        return text + draft[place..<draft.count]
    }

    private static func author(_ name: String) -> String {
        let plain = Printable.line(name.replacing(":", with: " ").replacing("@", with: " "))
        return plain.isEmpty ? "other" : String(plain.prefix(64))
    }

    private static func comment(_ text: String) -> String {
        Printable.line(text).replacing("<<}", with: "<< }")
    }
}
