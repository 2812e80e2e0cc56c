/// Finds the quotes of anchors in one text (docs/design/draft-anchors.md, "How it is found again").
///
/// A wrong place is worse than none. A short quote counts only if its context agrees, one that occurs several times
/// only if a whole side of its context does, and a changed quote is found only if it is long and has changed little.
///
/// Costs linear time once; then an anchor's cost depends on the frequency of its rarest word, and is zero if the text
/// is unchanged.
public struct AnchorResolver: Sendable {
    /// The text in which anchors are found.
    package let draft: DraftText
    private let normalised: NormalisedText
    private let quotes: QuotePlaces
    private let map: OffsetMap?
    private let previousHash: String?

    /// A quote of at least this many scalars needs no context; a shorter one does.
    static let selfEvident = 40
    static let leastContext = 0.55
    /// Fuzzy search: the minimum quote, the maximum share of errors, the minimum score.
    static let shortestFuzzy = 24
    /// A longer quote is not searched for with errors: the time is quadratic in its length.
    static let longestFuzzy = 4_096
    static let mostErrors = 0.25
    static let leastScore = 0.80
    /// Two places whose contexts differ by less are equally good.
    static let tie = 0.02
    /// The maximum number of candidates compared in full: those whose nearest context agrees best.
    private static let mostCandidates = 1_024
    /// The agreement required of the best of them then, because one that was not compared might be as good.
    private static let leastAmongMany = 0.9

    /// - Parameter previous: the text from which anchors were made, if available; it gives the most reliable results.
    public init(_ draft: DraftText, previous: DraftText? = nil) {
        self.draft = draft
        normalised = NormalisedText(draft.scalars)
        quotes = QuotePlaces(normalised.scalars)
        map = previous.map { OffsetMap(from: $0, to: draft) }
        previousHash = previous?.hash
    }

    /// The work done so far to find quotes, in scalars and places.
    var steps: Int { quotes.steps }

    /// Finds an anchor's quote, by the most reliable method available.
    public func resolve(_ anchor: TextAnchor) -> AnchorResolution { resolve(anchor, alsoAlike: true) }

    /// The place of an anchor's quote if certain; nil if ``resolve(_:)`` would have to guess, which costs more.
    package func certainRange(of anchor: TextAnchor) -> Range<Int>? {
        let resolution = resolve(anchor, alsoAlike: false)
        return resolution.isCertain ? resolution.range : nil
    }

    private func resolve(_ anchor: TextAnchor, alsoAlike: Bool) -> AnchorResolution {
        if anchor.textHash == draft.hash {
            let isThere = anchor.start >= 0 && anchor.end >= anchor.start && anchor.end <= draft.count
            if isThere, draft[anchor.range] == anchor.exact { return .unchanged(anchor.range) }
        }
        if anchor.textHash == previousHash, let range = map?.range(of: anchor.range), draft[range] == anchor.exact {
            return .mapped(range)
        }
        return locate(anchor, alsoAlike: alsoAlike)
    }

    /// Finds a model's quote without an anchor: only if it occurs in the text, except for white space, quotation marks
    /// and dashes. A quote that occurs several times is ambiguous unless its context decides.
    public func find(_ exact: String, prefix: String = "", suffix: String = "") -> AnchorResolution {
        let quote = NormalisedText(exact.unicodeScalars).trimmed
        guard !quote.isEmpty else { return .orphan }
        var (places, areAll) = places(occurrences(of: quote), Surroundings(prefix, suffix), near: nil)
        places.sort { $0.context > $1.context }
        guard let best = places.first else { return .orphan }
        let isClear = areAll || best.context >= Self.leastAmongMany
        let equal = isClear ? places.filter { best.context - $0.context < Self.tie } : places
        if equal.count > 1 { return .ambiguous(equal.map(\.source).sorted { $0.lowerBound < $1.lowerBound }) }
        return certain(best.source, exact)
    }

    private struct Place {
        var source: Range<Int>
        var context: Double
        var position: Double
    }

    private func locate(_ anchor: TextAnchor, alsoAlike: Bool) -> AnchorResolution {
        let quote = NormalisedText(anchor.exact.unicodeScalars).trimmed
        guard !quote.isEmpty else { return .orphan }
        let surroundings = Surroundings(anchor.prefix, anchor.suffix)
        let isEvident = quote.count >= Self.selfEvident
        let found = occurrences(of: quote)
        let company = AnchorCompany(anchor)
        let agreeing = found.map { (range: $0, sides: company.sides(around: $0, in: normalised.scalars)) }
            .filter { $0.sides > 0 }
        // A side that no twin had is proof. The quote's former position, or similarity of the rest, is not: after an
        // edit at the right place, a twin may look more like the original.
        let complete = agreeing.filter { $0.sides == 2 }
        if let only = complete.count == 1 ? complete[0] : agreeing.count == 1 ? agreeing[0] : nil {
            return certain(source(of: only.range), anchor.exact)
        }
        if agreeing.count > 1 { return .ambiguous(agreeing.map { source(of: $0.range) }) }
        if found.count == 1, (anchor.twins ?? 0) == 0 {
            let only = place(found[0], surroundings, near: anchor.start)
            if isEvident || only.context >= Self.leastContext { return certain(only.source, anchor.exact) }
        }
        guard alsoAlike else { return .orphan }
        if found.count != 1 || (anchor.twins ?? 0) != 0, !found.isEmpty {
            let (places, _) = places(found, surroundings, near: anchor.start)
            if let likely = places.first(where: { isEvident || $0.context >= Self.leastContext }) {
                return places.count == 1
                    ? .fuzzy(likely.source, score: likely.context)
                    : .ambiguous(places.map(\.source).sorted { $0.lowerBound < $1.lowerBound })
            }
        }
        return fuzzy(quote, surroundings, near: anchor.start)
    }

    /// An anchor of this text that distinguishes its quote from every twin, as far as possible: for anchors kept until
    /// the text has changed.
    public func distinct(_ anchor: TextAnchor) -> TextAnchor {
        guard anchor.textHash == draft.hash, anchor.start >= 0, anchor.end <= draft.count else { return anchor }
        let quote = NormalisedText(anchor.exact.unicodeScalars).trimmed
        var distinct = anchor
        let start = normalised.position(ofSource: anchor.start)
        let own = start..<max(start, normalised.position(ofSource: anchor.end))
        let twins = quote.isEmpty ? [] : occurrences(of: quote).filter { !$0.overlaps(own) }
        distinct.twins = twins.count
        guard !twins.isEmpty else { return distinct }
        var length = TextAnchor.contextLength
        while length < TextAnchor.longestContext,
            case let company = AnchorCompany(distinct),
            twins.contains(where: { company.standsBefore($0, in: normalised.scalars) })
        {
            length *= 2
            distinct.longPrefix = draft[max(0, anchor.start - length)..<anchor.start]
        }
        length = TextAnchor.contextLength
        while length < TextAnchor.longestContext,
            case let company = AnchorCompany(distinct),
            twins.contains(where: { company.standsBehind($0, in: normalised.scalars) })
        {
            length *= 2
            distinct.longSuffix = draft[anchor.end..<min(draft.count, anchor.end + length)]
        }
        return distinct
    }

    /// White space at the quote's ends, which the search ignored, is included if it is there as well.
    private func certain(_ place: Range<Int>, _ exact: String) -> AnchorResolution {
        let wanted = Array(exact.unicodeScalars)
        let leading = wanted.prefix { $0.properties.isWhitespace }
        let trailing = wanted[leading.count...].reversed().prefix { $0.properties.isWhitespace }.reversed()
        var start = place.lowerBound
        var end = place.upperBound
        if start >= leading.count, draft.scalars[start - leading.count..<start].elementsEqual(leading) {
            start -= leading.count
        }
        if end + trailing.count <= draft.count, draft.scalars[end..<end + trailing.count].elementsEqual(trailing) {
            end += trailing.count
        }
        return draft.scalars[start..<end].elementsEqual(wanted) ? .exact(start..<end) : .normalised(start..<end)
    }

    private func fuzzy(
        _ quote: ArraySlice<Unicode.Scalar>, _ surroundings: Surroundings, near: Int
    ) -> AnchorResolution {
        guard (Self.shortestFuzzy...Self.longestFuzzy).contains(quote.count) else { return .orphan }
        let limit = Int(Double(quote.count) * Self.mostErrors)
        var best: [(range: Range<Int>, score: Double)] = []
        for hit in ApproximateSearch.hits(of: quote, in: normalised.scalars, atMost: limit) {
            let place = place(hit.range, surroundings, near: near)
            let likeness = 1 - Double(hit.errors) / Double(quote.count)
            let score = (50 * likeness + 40 * place.context + 2 * place.position) / 92
            if score >= Self.leastScore { best.append((place.source, score)) }
        }
        best.sort { $0.score > $1.score }
        guard let first = best.first else { return .orphan }
        let equal = best.filter { first.score - $0.score < Self.tie }
        if equal.count > 1 { return .ambiguous(equal.map(\.range).sorted { $0.lowerBound < $1.lowerBound }) }
        return .fuzzy(draft.graphemeRange(around: first.range), score: first.score)
    }

    /// The likeliest places of a normalised quote, and whether they are all of them.
    private func places(
        _ occurrences: [Range<Int>], _ surroundings: Surroundings, near: Int?
    ) -> (places: [Place], areAll: Bool) {
        var found = occurrences
        let areAll = found.count <= Self.mostCandidates
        if !areAll {
            let ranked = found.map { (range: $0, agreement: nearestAgreement($0, surroundings)) }
                .sorted { ($1.agreement, $0.range.lowerBound) < ($0.agreement, $1.range.lowerBound) }
            found = ranked.prefix(Self.mostCandidates).map(\.range)
        }
        return (found.map { place($0, surroundings, near: near) }, areAll)
    }

    /// Every place of a normalised quote, in normalised positions.
    private func occurrences(of quote: ArraySlice<Unicode.Scalar>) -> [Range<Int>] {
        quotes.ranges(of: Array(quote), where: isWhole)
    }

    /// A quote that starts or ends with a letter must not start or end within a word or a grapheme cluster.
    private func isWhole(_ range: Range<Int>) -> Bool {
        let text = normalised.scalars
        func isWithinWord(_ position: Int) -> Bool {
            position > 0 && position < text.count && QuotePlaces.isLetter(text[position - 1])
                && QuotePlaces.isLetter(text[position])
        }
        if isWithinWord(range.lowerBound) || isWithinWord(range.upperBound) { return false }
        if normalised.splitsScalar(range.lowerBound) || normalised.splitsScalar(range.upperBound) { return false }
        let source = source(of: range)
        return draft.isGraphemeBoundary(source.lowerBound) && draft.isGraphemeBoundary(source.upperBound)
    }

    /// A normalised range as a range of the draft, with the invisible scalars that belong to its last character.
    private func source(of range: Range<Int>) -> Range<Int> {
        let source = normalised.sourceRange(of: range)
        let next = normalised.sources[range.upperBound]
        var end = source.upperBound
        while end < next, !draft.isGraphemeBoundary(end) { end += 1 }
        return source.lowerBound..<end
    }

    /// The context of an anchor, normalised.
    private struct Surroundings {
        let before: [Unicode.Scalar]
        let after: [Unicode.Scalar]

        init(_ prefix: String, _ suffix: String) {
            before = NormalisedText(prefix.unicodeScalars).scalars
            after = NormalisedText(suffix.unicodeScalars).scalars
        }
    }

    /// The number of scalars that agree on either side, counted from the quote to the first difference.
    private func nearestAgreement(_ range: Range<Int>, _ surroundings: Surroundings) -> Int {
        zip(surroundings.before.reversed(), normalised.scalars[..<range.lowerBound].reversed()).prefix { $0 == $1 }
            .count
            + zip(surroundings.after, normalised.scalars[range.upperBound...]).prefix { $0 == $1 }.count
    }

    /// The agreement of a place's context with an anchor's: by edit distance, each side weighted by its length.
    private func place(_ range: Range<Int>, _ surroundings: Surroundings, near: Int?) -> Place {
        let (before, after) = (surroundings.before, surroundings.after)
        let left = Array(normalised.scalars[max(0, range.lowerBound - before.count)..<range.lowerBound])
        let right = Array(
            normalised.scalars[range.upperBound..<min(normalised.scalars.count, range.upperBound + after.count)])
        let length = before.count + after.count
        var context = 0.0
        if length > 0 {
            context =
                EditDistance.similarity(before, left) * Double(before.count)
                + EditDistance.similarity(after, right) * Double(after.count)
            context /= Double(length)
        } else if near != nil, range.count == normalised.trimmed.count {
            context = 1
        }
        let source = source(of: range)
        let distance = near.map { Double(abs(source.lowerBound - $0)) } ?? 0
        return Place(source: source, context: context, position: 1 - min(1, distance / Double(max(1, draft.count))))
    }
}
