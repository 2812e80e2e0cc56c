/// The aspect of a point: a closed list, so that points can be compared.
public enum CouncilAspect: String, Sendable, Codable, CaseIterable {
    case opening, structure, argument, evidence, clarity, style, tone, audience, accuracy, completeness, language,
        ending
    case other

    /// The aspect closest to a model's own word.
    static func closest(to word: String) -> CouncilAspect {
        let word = word.lowercased()
        if let exact = CouncilAspect(rawValue: word) { return exact }
        switch word {
        case "introduction", "hook", "beginning", "lead", "title": return .opening
        case "organization", "organisation", "flow", "order", "pacing", "transitions": return .structure
        case "logic", "reasoning", "thesis": return .argument
        case "data", "examples", "sources", "support": return .evidence
        case "readability", "ambiguity", "simplicity": return .clarity
        case "voice", "register", "mood": return .tone
        case "word choice", "wording", "rhythm", "imagery": return .style
        case "reader", "readers", "persona": return .audience
        case "facts", "correctness", "precision", "consistency": return .accuracy
        case "content", "detail", "gaps", "scope", "depth": return .completeness
        case "grammar", "spelling", "punctuation", "mechanics": return .language
        case "conclusion", "close", "call to action": return .ending
        default: return .other
        }
    }
}

/// Whether a point speaks for the draft, against it, or neither.
public enum CouncilStance: Int, Sendable, Codable, CaseIterable {
    case against = -1
    case neutral = 0
    case favourable = 1
}

/// An advisor's opinion of a draft as a whole.
public enum CouncilSentiment: String, Sendable, Codable {
    /// At least twice as many points for it as against.
    case positive
    /// At least twice as many against it.
    case critical
    /// Both, in similar numbers.
    case mixed
    /// No point takes a side.
    case neutral

    static func of(_ points: [CouncilPoint]) -> CouncilSentiment {
        let good = points.count { $0.stance == .favourable }
        let bad = points.count { $0.stance == .against }
        if good == 0, bad == 0 { return .neutral }
        if good >= 2 * bad { return .positive }
        return bad >= 2 * good ? .critical : .mixed
    }
}

/// One point of an advisor.
public struct CouncilPoint: Codable, Sendable, Hashable, Identifiable {
    /// `p1`, `p2` …: unique within its report.
    public var id: String
    /// The advisor.
    public var advisorID: String
    /// The place in the draft; nil for a point about all of it.
    public var anchor: TextAnchor?
    /// Its aspect.
    public var aspect: CouncilAspect
    /// For or against.
    public var stance: CouncilStance
    /// The point itself, in a sentence.
    public var claim: String

    /// One point of an advisor.
    public init(
        id: String, advisorID: String, anchor: TextAnchor?, aspect: CouncilAspect, stance: CouncilStance, claim: String
    ) {
        (self.id, self.advisorID, self.anchor) = (id, advisorID, anchor)
        (self.aspect, self.stance, self.claim) = (aspect, stance, claim)
    }
}

/// One advisor's view.
public struct CouncilPerspective: Codable, Sendable, Hashable {
    /// The advisor.
    public var advisorID: String
    /// In two or three sentences; one paragraph per part for a draft sent in parts.
    public var summary: String
    /// Derived from the points.
    public var sentiment: CouncilSentiment
    /// In the order in which they were made.
    public var points: [CouncilPoint]
    /// The answer was cut off: there may be more.
    public var isPartial: Bool
}

/// Points of several advisors that belong together.
public struct CouncilGroup: Codable, Sendable, Hashable {
    /// How they were grouped.
    public enum Ground: String, Codable, Sendable {
        /// The same words of the draft, and the same aspect.
        case place
        /// A model grouped them, by their ids.
        case model
        /// The same words in the points themselves.
        case wording
    }

    /// In the order of their ids.
    public var points: [CouncilPoint]
    /// How they were grouped.
    public var ground: Ground

    /// Their most frequent aspect.
    public var aspect: CouncilAspect {
        var counts: [CouncilAspect: Int] = [:]
        for point in points { counts[point.aspect, default: 0] += 1 }
        return points.map(\.aspect).max { (counts[$0] ?? 0, $1.rawValue) < (counts[$1] ?? 0, $0.rawValue) } ?? .other
    }

    /// The advisors of one side, each once.
    public func advisors(_ stance: CouncilStance) -> [String] {
        var seen: Set<String> = []
        return points.filter { $0.stance == stance }.map(\.advisorID).filter { seen.insert($0).inserted }
    }
}

/// The result of a council (docs/design/advisors.md, "Council"): agreements, disagreements, and points of a single
/// advisor.
public struct CouncilReport: Codable, Sendable, Hashable {
    /// In the order in which the advisors were named, without those that failed.
    public var perspectives: [CouncilPerspective] = []
    /// Points on which two or more advisors agree.
    public var consensus: [CouncilGroup] = []
    /// Points on which advisors contradict each other; none is overruled.
    public var disagreements: [CouncilGroup] = []
    /// Points of a single advisor.
    public var uniqueInsights: [CouncilPoint] = []
    /// Derived from all points.
    public var overallSentiment = CouncilSentiment.neutral
    /// Advisors that gave no answer, or that answered for only some parts of a draft.
    public var failures: [AdvisorFailure] = []
    /// Points that were left out.
    public var dropped = DroppedFindings()
    /// Messages for a person, a sentence each.
    public var notices: [String] = []
    /// All calls that were made.
    public var calls: [CallSummary] = []

    /// An empty report.
    public init() {}

    /// All points.
    public var points: [CouncilPoint] { perspectives.flatMap(\.points) }
    /// The tokens of all calls, as far as the servers counted them.
    public var usage: LLMUsage { calls.reduce(LLMUsage()) { $0 + ($1.usage ?? LLMUsage()) } }
}
