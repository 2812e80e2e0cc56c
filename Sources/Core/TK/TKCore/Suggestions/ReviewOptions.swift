/// The options of a review.
public struct ReviewOptions: Sendable {
    /// One advisor, or several asked in one call.
    public var advisors: [Role]
    /// Adds the genre's context.
    public var storyType: StoryType?
    /// Determines what the advisors comment on.
    public var stage: DraftStage?
    /// Only findings that touch this part of the draft, in Unicode scalars.
    public var selection: Range<Int>?
    /// Only these parts of the draft are sent, each with the words around it as context; nil for the whole draft.
    package var parts: [Range<Int>]?
    /// Only these; all if empty.
    public var categories: Set<String>
    /// From 0 to 1.
    public var minConfidence: Double
    /// The maximum number, keeping the most important; also stated in the prompt.
    public var maxSuggestions: Int?

    /// Everything but the advisors is optional.
    public init(
        advisors: [Role], storyType: StoryType? = nil, stage: DraftStage? = nil, selection: Range<Int>? = nil,
        categories: Set<String> = [], minConfidence: Double = 0, maxSuggestions: Int? = nil
    ) {
        (self.advisors, self.storyType, self.stage, self.selection) = (advisors, storyType, stage, selection)
        (self.categories, self.minConfidence, self.maxSuggestions) = (categories, minConfidence, maxSuggestions)
    }
}

/// The categories for advisors. The quick pass has the same.
public enum SuggestionCategory: String, Sendable, CaseIterable, Codable {
    case clarity, grammar, style, wordiness, structure, tone, accuracy, completeness

    /// The category closest to a model's own word; ``style`` if unknown.
    static func closest(to word: String) -> String {
        let word = word.lowercased()
        if SuggestionCategory(rawValue: word) != nil { return word }
        switch word {
        case "spelling", "punctuation", "typo", "syntax", "correctness", "mechanics": return grammar.rawValue
        case "concision", "conciseness", "brevity", "redundancy", "economy": return wordiness.rawValue
        case "organization", "organisation", "flow", "transition", "hook", "pacing", "order": return structure.rawValue
        case "voice", "register", "audience": return tone.rawValue
        case "fact", "facts", "factual", "evidence", "consistency", "precision": return accuracy.rawValue
        case "content", "detail", "missing", "gap", "requirements": return completeness.rawValue
        case "readability", "ambiguity", "comprehension": return clarity.rawValue
        default: return style.rawValue
        }
    }
}

/// Findings that a review left out, by reason.
public struct DroppedFindings: Sendable, Hashable, Codable {
    /// Not a finding: no quote, or not in the requested format.
    public var unreadable = 0
    /// The quote is not in the text that was sent.
    public var notInText = 0
    /// The quote occurs several times, and its place is undecided.
    public var ambiguous = 0
    /// From an advisor that was not asked.
    public var unknownAdvisor = 0
    /// The proposal equals the existing text.
    public var withoutChange = 0
    /// Repeats the draft's own text as a finding, or the marks that fence the draft.
    public var echoed = 0
    /// The same advisor has said it already.
    public var repeated = 0
    /// Within `<!-- tk: off -->`.
    public var exempt = 0
    /// Outside the selection, below the confidence, or not of the requested categories.
    public var filtered = 0
    /// Beyond the requested number.
    public var beyondMaximum = 0

    /// Nothing was dropped.
    public init() {}

    /// Those that reflect the answer's quality: everything not excluded by a user's filter.
    public var faulty: Int {
        unreadable + notInText + ambiguous + unknownAdvisor + withoutChange + echoed + repeated
    }

    /// The reasons for findings dropped for their quality, a sentence each.
    ///
    /// - Parameter what: the noun for one of them: `finding`, `point`.
    package func reasons(_ what: String) -> [String] {
        func sentence(_ count: Int, one: String, several: String) -> String? {
            switch count {
            case 0: nil
            case 1: "1 \(what) was dropped, because it \(one)."
            default: "\(count) \(what)s were dropped, because they \(several)."
            }
        }
        return [
            sentence(
                unknownAdvisor, one: "names no advisor who was asked", several: "name no advisor who was asked"),
            sentence(faulty - unknownAdvisor, one: "does not fit the text", several: "do not fit the text"),
        ].compactMap { $0 }
    }

    static func += (left: inout DroppedFindings, right: DroppedFindings) {
        left.unreadable += right.unreadable
        left.notInText += right.notInText
        left.ambiguous += right.ambiguous
        left.unknownAdvisor += right.unknownAdvisor
        left.withoutChange += right.withoutChange
        left.echoed += right.echoed
        left.repeated += right.repeated
        left.exempt += right.exempt
        left.filtered += right.filtered
        left.beyondMaximum += right.beyondMaximum
    }
}

/// The advisors' findings about a draft.
public struct ReviewResult: Sendable {
    /// By position.
    public var suggestions: [Suggestion] = []
    /// Findings that were left out.
    public var dropped = DroppedFindings()
    /// An answer was cut off: there may be more to say.
    public var isPartial = false
    /// Advisors that gave no answer, or not about all of the draft.
    public var failures: [AdvisorFailure] = []
    /// Messages for a person, a sentence each.
    public var notices: [String] = []
    /// All calls that were made.
    public var calls: [CallSummary] = []

    /// An empty result.
    public init() {}

    /// The tokens of all calls, as far as the servers counted them.
    public var usage: LLMUsage { calls.reduce(LLMUsage()) { $0 + ($1.usage ?? LLMUsage()) } }
}
