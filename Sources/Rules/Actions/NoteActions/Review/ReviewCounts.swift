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
    /// - Parameter models: nil if no model was asked about this text.
    func advice(_ models: ModelFindings?, on draft: DraftText, _ previous: DraftText?) -> [Suggestion] {
        guard let models, let said = models.suggestions else { return carried(to: draft, previous) }
        guard let parts = models.parts else { return said }
        let kept = carried(to: draft, previous).filter { earlier in
            !parts.contains { $0.overlaps(earlier.anchor.range) }
        }
        return said + kept
    }

    /// The advisors' open findings at their ranges in this text, without those whose words are gone.
    private func carried(to draft: DraftText, _ previous: DraftText?) -> [Suggestion] {
        let open = findings.filter(\.isOpen).flatMap(\.all).filter { $0.rule == nil }
        guard !open.isEmpty else { return [] }
        let resolver = AnchorResolver(draft, previous: previous)
        return open.compactMap { suggestion in
            guard let range = resolver.certainRange(of: suggestion.anchor) else { return nil }
            var suggestion = suggestion
            suggestion.anchor = draft.anchor(of: range)
            suggestion.originalText = draft[range]
            return suggestion
        }
    }
}
