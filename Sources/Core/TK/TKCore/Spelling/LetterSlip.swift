/// One letter that went wrong between a word as it stands and another: added, dropped or replaced, or two letters that
/// changed places.
struct LetterSlip {
    private enum Change { case added, dropped, replaced, swapped }

    private let word: [Unicode.Scalar]
    private let other: [Unicode.Scalar]
    private let change: Change
    /// Where they begin to differ.
    private let index: Int

    /// - Returns: nil if more than one letter differs, or none.
    init?(_ word: some StringProtocol, for other: some StringProtocol) {
        let (word, other) = (Array(word.unicodeScalars), Array(other.unicodeScalars))
        let start = zip(word, other).prefix { $0 == $1 }.count
        let shorter = min(word.count, other.count) - start
        let end = zip(word.reversed(), other.reversed()).prefix(shorter).prefix { $0 == $1 }.count
        let (left, right) = (word[start..<(word.count - end)], other[start..<(other.count - end)])
        switch (left.count, right.count) {
        case (1, 0): change = .added
        case (0, 1): change = .dropped
        case (1, 1): change = .replaced
        case (2, 2) where left.reversed().elementsEqual(right): change = .swapped
        default: return nil
        }
        (self.word, self.other, index) = (word, other, start)
    }

    /// Whether it happens to every writer: letters changed places, or one is doubled that should not be, or the reverse.
    var isTypical: Bool {
        switch change {
        case .swapped: true
        case .added: index > 0 && word[index] == word[index - 1]
        case .dropped: index > 0 && other[index] == other[index - 1]
        case .replaced: false
        }
    }

    /// Whether it is likelier than a term that resembles a word, such as `mtime` and `mime`.
    ///
    /// - Parameter isCommon: the other word is one of every day.
    func isLikely(isCommon: Bool) -> Bool {
        guard word.count > 4 else { return false }
        let isLong = word.count >= 8
        let isLast = index == word.count - 1
        switch change {
        case .swapped: return word.contains(where: Self.isVowel)
        case .added:
            // Another form of the same word, which a dictionary may lack.
            if isLast, "sd".unicodeScalars.contains(word[index]), word[index] != other.last { return false }
            // `cclose`, a name in code.
            if isTypical { return index > 1 }
            if isLast || index == 0 { return isLong && isCommon && index > 0 }
            return isLong || touches { Self.isNear(word[index], $0) || Self.isVowel(word[index]) && Self.isVowel($0) }
        case .dropped:
            if index == 0 { return false }
            if index < word.count || isTypical { return true }
            // A plural, and terms such as `checkin`.
            let isEnding = other.last == "s" || other.suffix(3).elementsEqual("ing".unicodeScalars)
            return isCommon && word.count >= 6 && !isEnding
        case .replaced:
            guard index > 0, isLong && isCommon || !isLast else { return false }
            let (letter, meant) = (word[index], other[index])
            return isLong || Self.isVowel(letter) && Self.isVowel(meant) || Self.isNear(letter, meant)
                || Self.soundAlike.contains([letter, meant])
        }
    }

    /// Whether it is likely between a short word and one that stands in every sentence.
    var isLikelyInFrequentWord: Bool {
        guard (3...5).contains(word.count) else { return false }
        switch change {
        case .swapped: return true
        case .added:
            return word.count > 3 && (1..<(word.count - 1)).contains(index) && touches { Self.isNear(word[index], $0) }
        case .dropped: return (1..<word.count).contains(index)
        case .replaced:
            return Self.isNear(word[index], other[index])
                && (word.count > 3 || ["the", "and"].contains(String(String.UnicodeScalarView(other))))
        }
    }

    private func touches(_ isMeant: (Unicode.Scalar) -> Bool) -> Bool {
        [index - 1, index + 1].contains { word.indices.contains($0) && isMeant(word[$0]) }
    }

    private static func isVowel(_ letter: Unicode.Scalar) -> Bool {
        "aeiouyàáâãäåæèéêëìíîïòóôõöøùúûü".unicodeScalars.contains(letter)
    }

    private static let soundAlike: [Set<Unicode.Scalar>] = [
        ["c", "s"], ["s", "z"], ["c", "k"], ["d", "t"], ["m", "n"], ["b", "p"], ["g", "j"], ["v", "w"], ["f", "v"],
    ]

    /// Whether their keys are neighbours; on other keyboards than the American one most of them are, too.
    private static func isNear(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
        guard let (row, column) = keys[one], let (otherRow, otherColumn) = keys[other] else { return false }
        return abs(row - otherRow) <= 1 && abs(column - otherColumn) <= 4
    }

    /// Row and column, in quarters of a key.
    private static let keys: [Unicode.Scalar: (row: Int, column: Int)] = {
        var keys: [Unicode.Scalar: (row: Int, column: Int)] = [:]
        for (row, (letters, shift)) in [("qwertyuiop", 0), ("asdfghjkl", 1), ("zxcvbnm", 3)].enumerated() {
            for (column, letter) in letters.unicodeScalars.enumerated() { keys[letter] = (row, column * 4 + shift) }
        }
        return keys
    }()
}
