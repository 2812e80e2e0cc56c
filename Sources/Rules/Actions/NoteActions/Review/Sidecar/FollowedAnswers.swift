import TKCore

/// Looks for what answers have put into a draft: an editor that writes its older text back takes it out again, and says
/// nothing about that.
struct FollowedAnswers {
    /// What a save has done to words that were put in.
    enum Fate {
        /// They are there; what to find them by from now on.
        case present(TextAnchor)
        /// The words of before stand in their place again; where.
        case undone(Range<Int>)
        /// Neither is there: somebody has gone on writing.
        case rewritten
    }

    /// Around words that are nothing by themselves, so much is looked for with them, in Unicode scalars.
    private static let company = 16

    private let draft: DraftText
    private let resolver: AnchorResolver

    init(_ draft: DraftText) {
        self.draft = draft
        resolver = AnchorResolver(draft)
    }

    /// What to find words by that were put into a text.
    static func anchor(of place: Range<Int>, in text: DraftText) -> TextAnchor {
        guard text.scalars[place].allSatisfy(\.properties.isWhitespace) else { return text.anchor(of: place) }
        let wide = max(0, place.lowerBound - company)..<min(text.count, place.upperBound + company)
        return text.anchor(of: text.graphemeRange(around: wide))
    }

    /// - Parameter applied: of the words that were put in.
    func fate(of suggestion: Suggestion, applied: TextAnchor) -> Fate {
        let now = resolver.certainRange(of: applied)
        let before = resolver.certainRange(of: suggestion.anchor)
        switch (now, before) {
        case (let now?, let before?):
            // Either may hold the other: "to" stands in "in order to", and "use" in "make use of".
            let holds = before.lowerBound <= now.lowerBound && now.upperBound <= before.upperBound
            let isBefore = now == before ? draft[now] != applied.exact : holds
            return isBefore ? .undone(before) : .present(draft.anchor(of: now))
        case (let now?, nil): return .present(draft.anchor(of: now))
        case (nil, let before?): return .undone(before)
        case (nil, nil): return .rewritten
        }
    }
}

extension ReviewFinding {
    /// What a person is told of an answer that a save has taken out of the draft.
    private static let undoneNote =
        "This was put into the draft, and a later save has brought the words of before back: an editor may have written "
        + "the text that it had loaded. It is open again."

    /// Whether it is open because a save has taken out of the draft what an answer had put there.
    var isUndone: Bool { isOpen && applied != nil }

    /// What a save has made of an answer that was put into the draft: undone where it is open from now on, and was not
    /// before.
    enum Course {
        case present, undone, rewritten
    }

    mutating func follow(_ answers: FollowedAnswers, in draft: DraftText) -> Course {
        guard let applied, state != .skipped, !isTicked else { return .present }
        let wasOpen = isOpen
        switch answers.fate(of: suggestion, applied: applied) {
        case .present(let anchor):
            self.applied = anchor
            if wasOpen { (state, note) = (.accepted, nil) }
        case .undone(let range):
            suggestion.anchor = draft.anchor(of: range)
            suggestion.originalText = suggestion.anchor.exact
            reopen()
            return wasOpen ? .present : .undone
        case .rewritten:
            guard wasOpen else { return .rewritten }
            // The pass finds it again, or it needs no answer any more.
            self.applied = nil
        }
        return .present
    }

    mutating func reopen() {
        state = .pending
        note = Self.undoneNote
    }
}
