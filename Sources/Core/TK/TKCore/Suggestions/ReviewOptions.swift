/// What a review is asked for.
public struct ReviewOptions: Sendable {
    /// One advisor, or several: these are asked in one call.
    public var advisors: [Role]
    /// Adds the genre's context.
    public var storyType: StoryType?
    /// Changes what the advisors speak about.
    public var stage: DraftStage?
    /// Only findings that touch this part of the draft, in Unicode scalars.
    public var selection: Range<Int>?
    /// Only these; all where it is empty.
    public var categories: Set<String>
    /// From 0 to 1.
    public var minConfidence: Double
    /// So many at most, those that matter most; also told to the advisors.
    public var maxSuggestions: Int?

    /// Everything but the advisors may be left out.
    public init(
        advisors: [Role], storyType: StoryType? = nil, stage: DraftStage? = nil, selection: Range<Int>? = nil,
        categories: Set<String> = [], minConfidence: Double = 0, maxSuggestions: Int? = nil
    ) {
        self.advisors = advisors
        self.storyType = storyType
        self.stage = stage
        self.selection = selection
        self.categories = categories
        self.minConfidence = minConfidence
        self.maxSuggestions = maxSuggestions
    }
}

/// The categories that advisors choose from. The quick pass has the same.
public enum SuggestionCategory: String, Sendable, CaseIterable, Codable {
    case clarity, grammar, style, wordiness, structure, tone, accuracy, completeness

    /// The category that a model means by a word of its own; ``style`` where that is unknown.
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
    /// Not a finding: no quote, or not of the form that was asked for.
    public var unreadable = 0
    /// The quote does not stand in the text that was sent.
    public var notInText = 0
    /// The quote stands there several times, and nothing tells which is meant.
    public var ambiguous = 0
    /// By an advisor that was not asked.
    public var unknownAdvisor = 0
    /// The proposal is what stands there already.
    public var withoutChange = 0
    /// Repeats the draft's own text as if it were a finding, or the marks that fence the draft.
    public var echoed = 0
    /// The advisor said the same already.
    public var repeated = 0
    /// Within `<!-- tk: off -->`.
    public var exempt = 0
    /// Outside the selection, below the confidence, or not of the categories that were asked for.
    public var filtered = 0
    /// Beyond the number that was asked for.
    public var beyondMaximum = 0

    /// Nothing was dropped.
    public init() {}

    /// Those that say something about the answer's quality: everything that no filter of the user's left out.
    public var faulty: Int {
        unreadable + notInText + ambiguous + unknownAdvisor + withoutChange + echoed + repeated
    }

    /// What was left out for its quality and why, a sentence for each reason.
    ///
    /// - Parameter what: one of those that were dropped: `finding`, `point`.
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

/// What advisors said about a draft.
public struct ReviewResult: Sendable {
    /// By position.
    public var suggestions: [Suggestion] = []
    /// Findings that were left out.
    public var dropped = DroppedFindings()
    /// An answer was cut: there may be more to say.
    public var isPartial = false
    /// Advisors that gave no answer, or not about all of the draft.
    public var failures: [AdvisorFailure] = []
    /// What a person should know, a sentence each.
    public var notices: [String] = []
    /// All calls that were made.
    public var calls: [CallSummary] = []

    /// An empty result.
    public init() {}

    /// The tokens of all calls, as far as the servers counted them.
    public var usage: LLMUsage { calls.reduce(LLMUsage()) { $0 + ($1.usage ?? LLMUsage()) } }
}
