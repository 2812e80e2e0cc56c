import Platform

/// One draft with what was said about it, ready to be shown.
package struct ReviewedDraft: Sendable {
    /// As it is shown: a path as the user gave it, `(text)` or `(stdin)`.
    package var name: String
    package var draft: DraftText
    /// By position.
    package var suggestions: [MergedSuggestion]
    package var discussions: [DiscussionThread]
    /// Whether advisors were asked; else the quick pass alone has read it.
    package var usedModel: Bool
    package var dropped: DroppedFindings
    package var isPartial: Bool
    /// The time limit ended a call, so that advisors may have had more to say.
    package var isOutOfTime = false
    package var failures: [AdvisorFailure]
    package var notices: [String]
    package var calls: [CallSummary]

    package init(
        name: String, draft: DraftText, suggestions: [MergedSuggestion], discussions: [DiscussionThread] = [],
        usedModel: Bool = false, dropped: DroppedFindings = DroppedFindings(), isPartial: Bool = false,
        failures: [AdvisorFailure] = [], notices: [String] = [], calls: [CallSummary] = []
    ) {
        self.name = name
        self.draft = draft
        self.suggestions = suggestions
        self.discussions = discussions
        self.usedModel = usedModel
        self.dropped = dropped
        self.isPartial = isPartial
        self.failures = failures
        self.notices = notices
        self.calls = calls
    }
}

/// What a run was asked for, which stands beside its findings.
package struct ReviewSetting: Sendable {
    package var advisors: [Role]
    package var storyType: StoryType?
    package var stage: DraftStage?
    package var prices: ModelTable
    /// Rules of the quick pass that were left out because their findings are always skipped.
    package var mutedRules: Set<String>

    package init(
        advisors: [Role], storyType: StoryType? = nil, stage: DraftStage? = nil, prices: ModelTable,
        mutedRules: Set<String> = []
    ) {
        self.advisors = advisors
        self.storyType = storyType
        self.stage = stage
        self.prices = prices
        self.mutedRules = mutedRules
    }

    /// An advisor's name for people.
    package func name(of advisorID: String) -> String {
        if advisorID == Suggestion.quickPass { return "Quick pass" }
        return advisors.first { $0.id == advisorID }?.name ?? advisorID
    }

    /// What calls cost together; nil where a price or a count is not known.
    package func cost(of calls: [CallSummary]) -> Cost? {
        var sum = Cost.zero
        for call in calls {
            guard let usage = call.usage, let cost = prices.cost(provider: call.provider, model: call.model, usage)
            else { return nil }
            sum = sum + cost
        }
        return sum
    }
}

/// Narrows findings to what was asked for: by category, confidence, and number.
package struct SuggestionFilter: Sendable, Equatable {
    package var categories: Set<String>
    package var minConfidence: Double
    /// Those that matter most.
    package var maximum: Int?

    package init(categories: Set<String> = [], minConfidence: Double = 0, maximum: Int? = nil) {
        self.categories = categories
        self.minConfidence = minConfidence
        self.maximum = maximum
    }

    /// - Parameter dropped: counts what is left out.
    package func apply(_ all: [MergedSuggestion], dropped: inout DroppedFindings) -> [MergedSuggestion] {
        var kept = all.filter { entry in
            let suggestion = entry.suggestion
            return (categories.isEmpty || categories.contains(suggestion.category))
                && suggestion.confidence >= minConfidence
        }
        dropped.filtered += all.count - kept.count
        if let maximum, kept.count > maximum {
            dropped.beyondMaximum += kept.count - maximum
            let ranked = kept.sorted { SuggestionOrder.byImportance($0.suggestion, $1.suggestion) }
            kept = ranked.prefix(maximum).sorted { SuggestionOrder.byPosition($0.suggestion, $1.suggestion) }
        }
        return kept
    }
}
