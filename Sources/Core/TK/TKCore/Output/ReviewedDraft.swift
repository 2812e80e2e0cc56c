import Platform

/// A draft with its findings, ready for output.
package struct ReviewedDraft: Sendable {
    /// For display: a path as the user gave it, `(text)` or `(stdin)`.
    package var name: String
    package var draft: DraftText
    /// By position.
    package var suggestions: [MergedSuggestion]
    package var discussions: [DiscussionThread]
    /// What the advisors were told about it.
    package var stage: DraftStage?
    /// Whether advisors were asked; otherwise only the quick pass has read it.
    package var usedModel: Bool
    package var dropped: DroppedFindings
    package var isPartial: Bool
    /// A call timed out, so the advisors may have had more to say.
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

/// The options of a run, printed with its findings.
package struct ReviewSetting: Sendable {
    package var advisors: [Role]
    package var storyType: StoryType?
    package var stage: DraftStage?
    package var prices: ModelTable
    /// Muted rules of the quick pass, whose findings are always skipped.
    package var mutedRules: Set<String>

    package init(
        advisors: [Role], storyType: StoryType? = nil, stage: DraftStage? = nil, prices: ModelTable,
        mutedRules: Set<String> = []
    ) {
        (self.advisors, self.storyType, self.stage) = (advisors, storyType, stage)
        (self.prices, self.mutedRules) = (prices, mutedRules)
    }

    /// An advisor's display name.
    package func name(of advisorID: String) -> String {
        if advisorID == Suggestion.quickPass { return "Quick pass" }
        if advisorID == Suggestion.styles { return "House rules" }
        return advisors.first { $0.id == advisorID }?.name ?? advisorID
    }

    /// The total cost of calls; nil if a price or a count is unknown.
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

/// Filters findings by category, confidence, and number.
package struct SuggestionFilter: Sendable, Equatable {
    package var categories: Set<String>
    package var minConfidence: Double
    /// The most important ones are kept.
    package var maximum: Int?

    package init(categories: Set<String> = [], minConfidence: Double = 0, maximum: Int? = nil) {
        (self.categories, self.minConfidence, self.maximum) = (categories, minConfidence, maximum)
    }

    /// - Parameter dropped: counts the findings left out.
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
