/// Tells whether a text already contains a suggestion's proposal.
struct AnchorContext {
    private let draft: DraftText
    /// The minimum context of a removed quote that must be found in one piece.
    private static let leastSeam = 12
    /// The minimum agreement of the context of a proposal that is found when the quote is not.
    private static let leastAgreement = 0.35
    /// The context of a proposal elsewhere must agree better than the quote's by this margin.
    private static let margin = 0.05
    /// The context of a proposal that contains the quote may agree worse by this much.
    private static let tolerance = 0.02

    init(_ draft: DraftText) { self.draft = draft }

    /// - Parameter quotePlace: the quote's place, if it was found with certainty.
    func holds(_ suggestion: Suggestion, quoteAt quotePlace: Range<Int>?, _ resolver: AnchorResolver) -> Bool {
        let anchor = suggestion.anchor
        guard !suggestion.suggestedText.isEmpty else { return quotePlace == nil && isClosed(anchor, resolver) }
        var proposed = anchor
        proposed.exact = suggestion.suggestedText
        proposed.end = proposed.start + suggestion.suggestedText.unicodeScalars.count
        proposed.textHash = ""
        (proposed.twins, proposed.longPrefix, proposed.longSuffix) = (nil, nil, nil)
        guard let quotePlace else {
            // Nothing will be inserted, so the context of the proposal may have changed more.
            let found = resolver.find(suggestion.suggestedText, prefix: anchor.prefix, suffix: anchor.suffix)
            guard found.isCertain, let place = found.range else { return false }
            let isLong = proposed.end - proposed.start >= Self.leastSeam
            return agreement(place, anchor) >= (isLong ? Self.leastAgreement : AnchorResolver.leastContext)
        }
        let resolution = resolver.resolve(proposed)
        guard resolution.isCertain, let place = resolution.range else { return false }
        // A proposal within the quote is part of the text that it should replace.
        if quotePlace.lowerBound <= place.lowerBound, place.upperBound <= quotePlace.upperBound { return false }
        let difference = agreement(place, anchor) - agreement(quotePlace, anchor)
        let holdsQuote = place.lowerBound <= quotePlace.lowerBound && quotePlace.upperBound <= place.upperBound
        return holdsQuote ? difference >= -Self.tolerance : difference > Self.margin
    }

    /// Whether the words before and after a removed quote are now adjacent. Fewer of them suffice, because text farther
    /// away may have changed as well.
    private func isClosed(_ anchor: TextAnchor, _ resolver: AnchorResolver) -> Bool {
        let before = anchor.prefix.split(whereSeparator: \.isWhitespace)
        let after = anchor.suffix.split(whereSeparator: \.isWhitespace)
        // The outermost words may be truncated.
        for words in [4, 3, 2, 1] where before.count > words || after.count > words {
            let seam = (before.dropFirst().suffix(words) + after.dropLast().prefix(words)).joined(separator: " ")
            if seam.unicodeScalars.count >= Self.leastSeam, resolver.find(seam).isCertain { return true }
        }
        return false
    }

    /// The agreement of a place's context with the anchor's, from 0 to 1.
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
