/// Tells whether a text says already what a suggestion proposes.
struct AnchorContext {
    private let draft: DraftText
    /// The least of a removed quote's surroundings that must stand there in one piece.
    private static let leastSeam = 12
    /// How well a proposal's surroundings agree that stands there while the quote does not.
    private static let leastAgreement = 0.35
    /// By so much the surroundings of a proposal elsewhere must agree better than the quote's.
    private static let margin = 0.05
    /// By so much those of a proposal that holds the quote may agree worse.
    private static let tolerance = 0.02

    init(_ draft: DraftText) { self.draft = draft }

    /// - Parameter quotePlace: where the quote itself was found, if it was for certain.
    func holds(_ suggestion: Suggestion, quoteAt quotePlace: Range<Int>?, _ resolver: AnchorResolver) -> Bool {
        let anchor = suggestion.anchor
        guard !suggestion.suggestedText.isEmpty else { return quotePlace == nil && isClosed(anchor, resolver) }
        var proposed = anchor
        proposed.exact = suggestion.suggestedText
        proposed.end = proposed.start + suggestion.suggestedText.unicodeScalars.count
        proposed.textHash = ""
        (proposed.twins, proposed.longPrefix, proposed.longSuffix) = (nil, nil, nil)
        guard let quotePlace else {
            // Nothing will be put anywhere: what surrounds the proposal may have changed more.
            let found = resolver.find(suggestion.suggestedText, prefix: anchor.prefix, suffix: anchor.suffix)
            guard found.isCertain, let place = found.range else { return false }
            let isLong = proposed.end - proposed.start >= Self.leastSeam
            return agreement(place, anchor) >= (isLong ? Self.leastAgreement : AnchorResolver.leastContext)
        }
        let resolution = resolver.resolve(proposed)
        guard resolution.isCertain, let place = resolution.range else { return false }
        // A proposal that lies within the quote is a part of what it is to replace.
        if quotePlace.lowerBound <= place.lowerBound, place.upperBound <= quotePlace.upperBound { return false }
        let difference = agreement(place, anchor) - agreement(quotePlace, anchor)
        let holdsQuote = place.lowerBound <= quotePlace.lowerBound && quotePlace.upperBound <= place.upperBound
        return holdsQuote ? difference >= -Self.tolerance : difference > Self.margin
    }

    /// Whether the words that stood before and behind a quote stand side by side. Fewer of them are enough, since what is
    /// farther away may have been changed as well.
    private func isClosed(_ anchor: TextAnchor, _ resolver: AnchorResolver) -> Bool {
        let before = anchor.prefix.split(whereSeparator: \.isWhitespace)
        let after = anchor.suffix.split(whereSeparator: \.isWhitespace)
        // The outermost words may be cut.
        for words in [4, 3, 2, 1] where before.count > words || after.count > words {
            let seam = (before.dropFirst().suffix(words) + after.dropLast().prefix(words)).joined(separator: " ")
            if seam.unicodeScalars.count >= Self.leastSeam, resolver.find(seam).isCertain { return true }
        }
        return false
    }

    /// How well a place's surroundings agree with the anchor's, from 0 to 1.
    private func agreement(_ place: Range<Int>, _ anchor: TextAnchor) -> Double {
        let before = Array(NormalisedText(anchor.prefix.unicodeScalars).scalars)
        let after = Array(NormalisedText(anchor.suffix.unicodeScalars).scalars)
        let left = NormalisedText(
            draft.scalars[max(0, place.lowerBound - anchor.prefix.unicodeScalars.count)..<place.lowerBound])
        let right = NormalisedText(
            draft.scalars[place.upperBound..<min(draft.count, place.upperBound + anchor.suffix.unicodeScalars.count)])
        let length = before.count + after.count
        guard length > 0 else { return 1 }
        let sum =
            EditDistance.similarity(before, left.scalars) * Double(before.count)
            + EditDistance.similarity(after, right.scalars) * Double(after.count)
        return sum / Double(length)
    }
}
