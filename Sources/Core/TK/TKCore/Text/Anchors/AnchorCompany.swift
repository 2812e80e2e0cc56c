/// What stood on either side of an anchor's quote, and whether it stands around a place as it was.
struct AnchorCompany {
    private let before: [Unicode.Scalar]
    private let after: [Unicode.Scalar]
    /// Whether the side is as long as it was meant to be; a shorter one ends where the text did.
    private let isBeforeWhole: Bool
    private let isAfterWhole: Bool
    /// Whether no twin had the side.
    private let isBeforeTelling: Bool
    private let isAfterTelling: Bool

    init(_ anchor: TextAnchor) {
        let prefix = anchor.longPrefix ?? anchor.prefix
        let suffix = anchor.longSuffix ?? anchor.suffix
        // White space at the quote's ends is not searched for with it.
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

    /// How many sides of a place, both in normalised positions, are as they were, and tell it from the quote's twins.
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
