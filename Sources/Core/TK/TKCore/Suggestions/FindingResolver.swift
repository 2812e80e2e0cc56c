import Platform

/// Turns models' findings into suggestions: finds each quote in the draft, and drops those that are not there.
struct FindingResolver: Sendable {
    private let draft: DraftText
    private let mask: DraftMask
    private let gate: ProposalGate
    /// The part of the draft that was sent.
    private let piece: Range<Int>
    private let resolver: AnchorResolver
    private let endings: LineEndings
    private let boundary: String
    private let options: ReviewOptions

    /// - Parameter boundary: the fence's, which no finding may contain.
    init(draft: DraftText, mask: DraftMask, piece: Range<Int>, boundary: String, options: ReviewOptions) {
        self.draft = draft
        self.mask = mask
        gate = ProposalGate(draft, mask: mask)
        self.piece = piece
        self.boundary = boundary.lowercased()
        self.options = options
        endings = LineEndings(draft.scalars)
        resolver = AnchorResolver(piece.count == draft.count ? draft : DraftText(draft[piece]))
    }

    /// - Parameter advisor: the only advisor asked; nil if each finding must name its own.
    func suggestions(
        from items: [FindingItem], advisor: Role?, dropped: inout DroppedFindings
    ) -> [Suggestion] {
        var found: [Suggestion] = []
        for item in items {
            guard let maker = advisor?.id ?? advisorID(of: item) else {
                dropped.unknownAdvisor += 1
                continue
            }
            guard let suggestion = suggestion(item, maker, &dropped) else { continue }
            if found.contains(where: { Self.saysTheSame($0, suggestion) }) {
                dropped.repeated += 1
            } else {
                found.append(suggestion)
            }
        }
        return found
    }

    private func advisorID(of item: FindingItem) -> String? {
        guard let word = item.advisorID?.lowercased() else { return nil }
        return options.advisors.first { $0.id.lowercased() == word || $0.name.lowercased() == word }?.id
    }

    private static func saysTheSame(_ one: Suggestion, _ other: Suggestion) -> Bool {
        one.advisorID == other.advisorID && one.anchor.range == other.anchor.range
            && one.suggestedText == other.suggestedText && one.hasReplacement == other.hasReplacement
            && (one.hasReplacement || one.category == other.category)
    }

    private func suggestion(_ item: FindingItem, _ maker: String, _ dropped: inout DroppedFindings) -> Suggestion? {
        let isEcho = [item.replacement ?? "", item.reason, item.quote].contains { $0.lowercased().contains(boundary) }
        guard !isEcho else {
            dropped.echoed += 1
            return nil
        }
        guard var range = place(of: item, &dropped) else { return nil }
        // Models use other quotation marks and line breaks than the draft: these are not part of the proposal.
        var replacement = item.replacement.map {
            let proposal = Self.printable(Self.trimmed($0, as: item.quote))
            return endings.adapted(
                WordMerge.carry(Self.withoutBlanks(item.quote), to: proposal, over: draft[range]))
        }
        if replacement?.isEmpty == true, item.type != .remove { replacement = nil }
        if item.type == .remove, replacement == nil { replacement = "" }
        if replacement == "" { range = draft.withOneSpace(range) }
        range = draft.graphemeRange(around: range)
        let quote = draft[range]
        if replacement == quote {
            dropped.withoutChange += 1
            return nil
        }
        if mask.isExempt(range) {
            dropped.exempt += 1
            return nil
        }
        // An addition that does not repeat the adjacent words would remove them.
        let removesQuote = item.type == .add && replacement.map { !$0.contains(quote) } ?? false
        let anchor = draft.anchor(of: range)
        let suggestion = Suggestion(
            id: FindingIdentity.id(maker: maker, quote: quote, before: anchor.prefix, after: anchor.suffix),
            advisorID: maker, type: item.type, category: item.category,
            priority: Int(min(max(item.priority.rounded(), 1), 5)), confidence: min(max(item.confidence, 0), 1),
            originalText: quote, suggestedText: replacement ?? "",
            hasReplacement: replacement != nil && !removesQuote,
            reasoning: Self.printable(item.reason), anchor: anchor)
        let isWanted =
            (options.categories.isEmpty || options.categories.contains(suggestion.category))
            && suggestion.confidence >= options.minConfidence
            && (options.selection.map { Self.touches($0, range) } ?? true)
        guard isWanted else {
            dropped.filtered += 1
            return nil
        }
        return gate.admitted(suggestion)
    }

    private func place(of item: FindingItem, _ dropped: inout DroppedFindings) -> Range<Int>? {
        switch resolver.find(item.quote, prefix: item.before) {
        case .exact(let range), .normalised(let range):
            let place = withoutBlanks(range.lowerBound + piece.lowerBound..<range.upperBound + piece.lowerBound)
            if !place.isEmpty { return place }
            dropped.notInText += 1
        case .ambiguous(let ranges):
            let places = ranges.map { $0.lowerBound + piece.lowerBound..<$0.upperBound + piece.lowerBound }
            if let selection = options.selection {
                let inside = places.filter { Self.touches(selection, $0) }
                if inside.count == 1 { return withoutBlanks(inside[0]) }
            }
            dropped.ambiguous += 1
        case .unchanged, .mapped, .fuzzy, .orphan: dropped.notInText += 1
        }
        return nil
    }

    /// Surrounding white space is not part of a finding.
    private func withoutBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, draft.scalars[start].properties.isWhitespace { start += 1 }
        while end > start, draft.scalars[end - 1].properties.isWhitespace { end -= 1 }
        return start..<end
    }

    private static func withoutBlanks(_ quote: String) -> String {
        var text = Substring(quote)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    static func touches(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.overlaps(other) || one.isEmpty && other.lowerBound <= one.lowerBound && one.lowerBound <= other.upperBound
    }

    /// Trims white space where the quote has some too: the quote's own was trimmed as well.
    private static func trimmed(_ replacement: String, as quote: String) -> String {
        var text = Substring(replacement)
        if quote.first?.isWhitespace == true { text = text.drop(while: \.isWhitespace) }
        if quote.last?.isWhitespace == true { while text.last?.isWhitespace == true { text.removeLast() } }
        return String(text)
    }

    /// Without terminal control characters; line breaks and tabs stay.
    static func printable(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(
            contentsOf: text.unicodeScalars.filter { !ShownText.acts($0) || ["\n", "\t", "\r"].contains($0) })
        return String(scalars)
    }
}

extension DraftText {
    /// With the space after it, or before it, that its removal would leave over.
    func withOneSpace(_ range: Range<Int>) -> Range<Int> {
        func isSpace(_ offset: Int) -> Bool { offset >= 0 && offset < count && scalars[offset] == " " }
        func isLineEdge(_ offset: Int) -> Bool {
            offset < 0 || offset >= count || scalars[offset] == "\n" || scalars[offset] == "\r"
        }
        if isSpace(range.upperBound), isSpace(range.lowerBound - 1) || isLineEdge(range.lowerBound - 1) {
            return range.lowerBound..<range.upperBound + 1
        }
        let closes = range.upperBound < count && ".,;:!?".unicodeScalars.contains(scalars[range.upperBound])
        if isSpace(range.lowerBound - 1), closes || isLineEdge(range.upperBound) {
            return range.lowerBound - 1..<range.upperBound
        }
        return range
    }
}
