/// The context on either side of an anchor's quote, and whether a place has it unchanged.
struct AnchorCompany {
    private let before: [Unicode.Scalar]
    private let after: [Unicode.Scalar]
    /// Whether the side has its full length; a shorter one ends at the end of the text.
    private let isBeforeWhole: Bool
    private let isAfterWhole: Bool
    /// Whether no twin had the side.
    private let isBeforeTelling: Bool
    private let isAfterTelling: Bool

    init(_ anchor: TextAnchor) {
        let prefix = anchor.longPrefix ?? anchor.prefix
        let suffix = anchor.longSuffix ?? anchor.suffix
        // The search ignores white space at the quote's ends.
        let leading = anchor.exact.unicodeScalars.prefix { $0.properties.isWhitespace }
        let trailing = anchor.exact.unicodeScalars.reversed().prefix { $0.properties.isWhitespace }.reversed()
        before = NormalisedText(Array(prefix.unicodeScalars) + leading).scalars
        after = NormalisedText(trailing + Array(suffix.unicodeScalars)).scalars
        isBeforeWhole = Self.isWhole(prefix)
        isAfterWhole = Self.isWhole(suffix)
        isBeforeTelling = prefix.unicodeScalars.count < TextAnchor.longestContext
        isAfterTelling = suffix.unicodeScalars.count < TextAnchor.longestContext
    }

    private static func isWhole(_ side: String) -> Bool {
        let count = side.unicodeScalars.count
        return count >= TextAnchor.contextLength && count & (count - 1) == 0
    }

    /// The number of sides of a place, in normalised positions, that are unchanged and distinguish it from the quote's
    /// twins.
    func sides(around range: Range<Int>, in text: [Unicode.Scalar]) -> Int {
        var count = 0
        if isBeforeTelling, standsBefore(range, in: text) { count += 1 }
        if isAfterTelling, standsBehind(range, in: text) { count += 1 }
        return count
    }

    func standsBefore(_ range: Range<Int>, in text: [Unicode.Scalar]) -> Bool {
        guard before.count <= range.lowerBound, isBeforeWhole || range.lowerBound == before.count else { return false }
        return before.reversed().elementsEqual(text[range.lowerBound - before.count..<range.lowerBound].reversed())
    }

    func standsBehind(_ range: Range<Int>, in text: [Unicode.Scalar]) -> Bool {
        let end = range.upperBound + after.count
        guard end <= text.count, isAfterWhole || end == text.count else { return false }
        return after.elementsEqual(text[range.upperBound..<end])
    }
}
