import TKCore

/// Tracks words that answers put into a draft. An editor that saves an older buffer removes them again without notice.
struct FollowedAnswers {
    /// Fate of inserted words after a save.
    enum Fate {
        /// Still there, with their new anchor.
        case present(TextAnchor)
        /// The old words are back, at this range.
        case undone(Range<Int>)
        /// Neither is there, because the writer continued.
        case rewritten
    }

    /// Scalars of context on each side for an anchor of whitespace only.
    private static let company = 16

    private let draft: DraftText
    private let resolver: AnchorResolver

    init(_ draft: DraftText) {
        self.draft = draft
        resolver = AnchorResolver(draft)
    }

    /// An anchor to find inserted words by.
    static func anchor(of place: Range<Int>, in text: DraftText) -> TextAnchor {
        guard text.scalars[place].allSatisfy(\.properties.isWhitespace) else { return text.anchor(of: place) }
        let wide = max(0, place.lowerBound - company)..<min(text.count, place.upperBound + company)
        return text.anchor(of: text.graphemeRange(around: wide))
    }

    /// - Parameter applied: anchor of the inserted words.
    func fate(of suggestion: Suggestion, applied: TextAnchor) -> Fate {
        let now = resolver.certainRange(of: applied)
        let before = resolver.certainRange(of: suggestion.anchor)
        switch (now, before) {
        case (let now?, let before?):
            // One may contain the other: "to" is in "in order to", and "use" in "make use of".
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
    /// Shown to a person if a save removed an answer from the draft.
    private static let undoneNote =
        "This was applied to the draft, but a later save has restored the previous words: an editor may have saved "
        + "the old text it had loaded. It is open again."

    /// Whether it is open because a save removed its answer from the draft.
    var isUndone: Bool { isOpen && applied != nil }

    /// Fate of an applied answer after a save. `undone` means that it was reopened just now.
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
