/// The text between double quotation marks in a block: another person's words, or a character's, which the writer
/// should not polish.
struct QuotedSpeech {
    /// In order, without the marks. Speech that continues in the next paragraph extends to the block's end.
    private(set) var ranges: [Range<Int>] = []

    mutating func read(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>) {
        ranges.removeAll(keepingCapacity: true)
        var open: (start: Int, closing: Unicode.Scalar)?
        for index in block {
            if let begun = open {
                guard text[index] == begun.closing else { continue }
                ranges.append(begun.start..<index)
                open = nil
            } else if let closing = Self.closing(text, index, block) {
                open = (index + 1, closing)
            }
        }
        if let open { ranges.append(open.start..<block.upperBound) }
    }

    func contains(_ position: Int) -> Bool {
        ranges.first(beyond: position)?.contains(position) ?? false
    }

    /// The end of the speech that a mark opens; nil if it opens none, as in 19".
    private static func closing(
        _ text: UnsafeBufferPointer<Unicode.Scalar>, _ index: Int, _ block: Range<Int>
    ) -> Unicode.Scalar? {
        switch text[index] {
        case "“": return "”"
        case "„": return "“"
        case "«": return "»"
        case "\"":
            let before = index > block.lowerBound ? text[index - 1] : " "
            guard index + 1 < block.upperBound, !ProseTokens.isSpace(text[index + 1]) else { return nil }
            return ProseTokens.isLetter(before) || before.value &- 48 < 10 ? nil : "\""
        default: return nil
        }
    }
}
