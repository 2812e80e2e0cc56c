import Platform
import TKCore

/// A draft's journey, as its reviews count it.
extension ReviewState {
    /// How many were accepted in the writer's own words.
    package var edited: Int { findings.count { $0.state == .accepted && $0.edited != nil } }

    /// Counts a review.
    ///
    /// - Parameter new: the number of findings that it brought.
    mutating func count(_ models: ModelFindings?, _ settings: ReviewSettings, new: Int) {
        var journey = journey ?? JourneyState()
        journey.follow(ruleType: settings.storyType)
        let hasRead = models.map { ($0.suggestions != nil || $0.council != nil) && $0.parts?.isEmpty != true } ?? false
        journey.receive(
            new: new, inAll: findings.count, answered: count(.accepted) + count(.skipped),
            isReading: settings.asksModel ? hasRead : nil)
        self.journey = journey
    }

    /// Adds the cost of answers that are not among those counted before.
    mutating func spend(_ costs: [String: Cost]) {
        let known = Set(answers)
        let new = costs.filter { !known.contains($0.key) }
        guard !new.isEmpty else { return }
        var journey = journey ?? JourneyState()
        for cost in new.values { journey.spend(cost) }
        self.journey = journey
    }
}

/// What advisors say about a text that they have read before, or in part.
extension ReviewState {
    /// The open findings that the quick pass does not make, by whoever is still asked for them.
    ///
    /// - Parameters:
    ///   - models: nil if no model was asked about this text.
    ///   - resolver: finds them in this text.
    ///   - passes: of the rule. What others have added stays in any case.
    func advice(
        _ models: ModelFindings?, by resolver: AnchorResolver, _ passes: [ReviewSettings.Pass]
    ) -> [Suggestion] {
        var advice = carried(.added, by: resolver)
        if passes.contains(.program) { advice += models?.program ?? carried(.program, by: resolver) }
        guard passes.contains(.advisors) else { return advice }
        let known = carried(nil, by: resolver)
        guard let said = models?.suggestions else { return known + advice }
        guard let parts = models?.parts else { return said + advice }
        return said + known.filter { earlier in !parts.contains { $0.overlaps(earlier.anchor.range) } } + advice
    }

    private func carried(_ origin: Suggestion.Origin?, by resolver: AnchorResolver) -> [Suggestion] {
        let open = findings.filter(\.isOpen).flatMap(\.all).filter { $0.rule == nil && $0.origin == origin }
        return resolver.placed(open)
    }
}

extension ReviewState {
    /// Merges equivalent suggestions, except ticked ones: a tick applies to exactly the words that the person saw. So
    /// does another proposal that was asked for.
    ///
    /// - Parameter isAlone: whether all are the quick pass's, which has no duplicates.
    func merged(_ suggestions: [Suggestion], isAlone: Bool, _ draft: DraftText) -> [MergedSuggestion] {
        guard !isAlone else { return suggestions.map { MergedSuggestion(suggestion: $0) } }
        let ticked = Set(findings.filter(\.keepsWording).map(\.suggestion.id))
        let free = suggestions.filter { !ticked.contains($0.id) }
        let entries =
            SuggestionMerger.merge(free, of: draft)
            + suggestions.filter { ticked.contains($0.id) }.map { MergedSuggestion(suggestion: $0) }
        return entries.sorted { SuggestionOrder.byPosition($0.suggestion, $1.suggestion) }
    }

    /// Open findings first, in the order of the draft.
    mutating func sort() {
        findings.sort { one, other in
            if one.isOpen != other.isOpen { return one.isOpen }
            return (one.suggestion.anchor.start, one.suggestion.priority, one.suggestion.id)
                < (other.suggestion.anchor.start, other.suggestion.priority, other.suggestion.id)
        }
    }
}

extension AnchorResolver {
    /// Suggestions at their ranges in the draft, without those whose words are gone.
    func placed(_ suggestions: [Suggestion]) -> [Suggestion] {
        suggestions.compactMap { suggestion in
            guard let range = certainRange(of: suggestion.anchor) else { return nil }
            var suggestion = suggestion
            suggestion.anchor = draft.anchor(of: range)
            suggestion.originalText = draft[range]
            return suggestion
        }
    }
}

extension ReviewRound {
    /// Whether this content has been reviewed with these settings.
    static func isKnown(_ known: ReviewState, _ content: ContentHash, _ settings: ReviewSettings) -> Bool {
        known.content == content && known.settings == settings.hash
    }
}
