/// Rebases a change of words onto the current text: white space, quotation marks and dashes that differ stay as the
/// writer has them.
enum WordMerge {
    /// - Parameters:
    ///   - base: the text before the change.
    ///   - proposed: the text after it.
    ///   - current: the current version of `base`.
    /// - Returns: `current` with the change; `proposed` if the words cannot be matched.
    static func carry(_ base: String, to proposed: String, over current: String) -> String {
        guard !base.unicodeScalars.elementsEqual(current.unicodeScalars) else { return proposed }
        let (old, new, now) = (Words(base), Words(proposed), Words(current))
        guard !old.words.isEmpty, !new.words.isEmpty, old.words.count == now.words.count, old.words.count <= longest,
            new.words.count <= longest
        else { return proposed }
        // For each new word, the index of the old one that it equals.
        var origins = [Int?](repeating: nil, count: new.words.count)
        for (i, j) in LongestCommon.pairs(old.words, new.words) { origins[j] = i }
        let quotes = QuoteMarks(from: base, to: current)
        var out = new.gaps[0]
        var usedGaps: Set<Int> = []
        for (j, word) in new.words.enumerated() {
            if j > 0 {
                var gap = new.gaps[j]
                // The gap before an old word, or the one after it, if that is unchanged.
                for number in [origins[j], origins[j - 1].map { $0 + 1 }].compactMap({ $0 })
                where number > 0 && number < now.words.count && old.gaps[number] == gap
                    && usedGaps.insert(number).inserted
                {
                    gap = now.gaps[number]
                    break
                }
                out += gap
            }
            out += origins[j].map { now.words[$0] } ?? quotes.adapted(word)
        }
        return out + (new.gaps.last ?? "")
    }

    /// A longer quote is replaced as a whole: the comparison takes quadratic time in the worst case.
    private static let longest = 2_000

    private struct Words {
        var words: [String] = []
        /// Before each word, and after the last.
        var gaps: [String] = [""]

        init(_ text: String) {
            var isWord = false
            for scalar in text.unicodeScalars {
                if scalar.properties.isWhitespace {
                    if isWord { gaps.append("") }
                    gaps[gaps.count - 1].unicodeScalars.append(scalar)
                    isWord = false
                } else {
                    if !isWord { words.append("") }
                    words[words.count - 1].unicodeScalars.append(scalar)
                    isWord = true
                }
            }
            if isWord { gaps.append("") }
        }
    }

    /// The kinds of quotation marks that the writer has changed throughout.
    private struct QuoteMarks {
        private let isCurled: Bool
        private let isStraightened: Bool

        init(from base: String, to current: String) {
            func has(_ text: String, _ mark: Unicode.Scalar) -> Bool { text.unicodeScalars.contains(mark) }
            let curl: Unicode.Scalar = "\u{2019}"
            isCurled = has(base, "'") && !has(current, "'") && has(current, curl)
            isStraightened = has(base, curl) && !has(current, curl) && has(current, "'")
        }

        /// A new word with the text's current apostrophes.
        func adapted(_ word: String) -> String {
            if isCurled { return word.replacing("'", with: "\u{2019}") }
            return isStraightened ? word.replacing("\u{2019}", with: "'") : word
        }
    }
}
