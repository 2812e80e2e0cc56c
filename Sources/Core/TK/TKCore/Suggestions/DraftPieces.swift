/// Cuts a long draft into pieces that fit in a model's context: between paragraphs; within one that is too long between
/// lines, sentences or words; as a last resort within a word.
package enum DraftPieces {
    /// The pieces in order, which together form the draft. A draft that fits is one piece, an empty one none.
    ///
    /// - Parameter limit: the maximum UTF-8 bytes of a piece; a single grapheme cluster may have more.
    package static func cut(_ draft: DraftText, limit: Int) -> [Range<Int>] {
        guard draft.count > 0 else { return [] }
        let limit = max(limit, 1)
        var pieces: [Range<Int>] = []
        var start = 0
        while start < draft.count {
            let from = draft.utf8Offset(of: start)
            guard draft.utf8Offset(of: draft.count) - from > limit else {
                pieces.append(start..<draft.count)
                break
            }
            // The last position within the limit.
            var low = start
            var high = draft.count
            while high - low > 1 {
                let middle = (low + high) / 2
                if draft.utf8Offset(of: middle) - from <= limit { low = middle } else { high = middle }
            }
            let end = boundary(draft, after: start, atMost: low)
            pieces.append(start..<end)
            start = end
        }
        return pieces
    }

    private static func boundary(_ draft: DraftText, after start: Int, atMost end: Int) -> Int {
        let scalars = draft.scalars
        func isBlankLine(endingAt position: Int) -> Bool {
            let line = draft.line(at: position - 1)
            return draft.textRange(ofLine: line).allSatisfy { scalars[$0].properties.isWhitespace }
        }
        func last(_ isBoundary: (Int) -> Bool) -> Int? {
            var position = end
            while position > start {
                if isBoundary(position), draft.isGraphemeBoundary(position) { return position }
                position -= 1
            }
            return nil
        }
        func isLineEnd(_ position: Int) -> Bool { scalars[position - 1] == "\n" }
        func isSpace(_ position: Int) -> Bool { scalars[position - 1].properties.isWhitespace }
        if let found = last({ isLineEnd($0) && isBlankLine(endingAt: $0) }) { return found }
        if let found = last(isLineEnd) { return found }
        if let found = last({ $0 - start > 1 && isSpace($0) && ".!?".unicodeScalars.contains(scalars[$0 - 2]) }) {
            return found
        }
        if let found = last(isSpace) { return found }
        if let found = last({ _ in true }) { return found }
        var position = end + 1
        while position < draft.count, position <= start || !draft.isGraphemeBoundary(position) { position += 1 }
        return position
    }
}
