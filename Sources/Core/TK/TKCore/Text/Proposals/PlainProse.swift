/// Where words can be replaced without loss of markup.
extension DraftMask {
    /// Whether a range contains only words, so that changing it leaves emphasis, links, code and hard line breaks
    /// intact. Soft line breaks may be among the words, with the indentation after them.
    func isPlain(_ range: Range<Int>, in draft: DraftText) -> Bool {
        let scalars = draft.scalars
        var index = range.lowerBound
        while index < range.upperBound {
            if scalars[index] == "\n" || scalars[index] == "\r" {
                if index >= 2, scalars[index - 1] == " ", scalars[index - 2] == " " { return false }
                index += 1
                while index < range.upperBound, " \t\n\r>".unicodeScalars.contains(scalars[index]) { index += 1 }
            } else {
                guard kind(at: index) == .prose else { return false }
                index += 1
            }
        }
        return !hasBrackets || !isLabel(range, scalars)
    }

    /// CommonMark's limit.
    private static let longestLabel = 999

    /// Whether a range is in brackets whose text may be the label of a reference link: `[text]` or `[text][]`.
    private func isLabel(_ range: Range<Int>, _ scalars: [Unicode.Scalar]) -> Bool {
        var open = range.lowerBound - 1
        while open >= max(0, range.lowerBound - Self.longestLabel), kind(at: open) != .structure || scalars[open] != "["
        {
            if isOutside(open, scalars) { return false }
            open -= 1
        }
        guard open >= 0, kind(at: open) == .structure, scalars[open] == "[" else { return false }
        var close = range.upperBound
        let limit = min(scalars.count, open + Self.longestLabel)
        while close < limit, scalars[close] != "]" || kind(at: close) == .prose {
            if isOutside(close, scalars) { return false }
            close += 1
        }
        guard close < limit else { return false }
        return kind(at: close) == .structure || scalars[close...].starts(with: "][]".unicodeScalars)
    }

    /// A label contains neither brackets nor blank lines.
    private func isOutside(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        switch scalars[index] {
        case "[", "]", "|": kind(at: index) != .prose
        case "\n":
            index > 0 && scalars[index - 1] == "\n"
                || index > 1 && scalars[index - 1] == "\r" && scalars[index - 2] == "\n"
        default: false
        }
    }
}
