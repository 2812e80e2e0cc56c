import Foundation

/// The action that a suggestion asks of the writer.
public enum SuggestionType: String, Codable, Sendable, CaseIterable {
    case fix, improve, rephrase, add, remove
}

/// One finding of a pass over a draft: the existing text, the proposed text, and the reason
/// (docs/design/advisors.md, "What is believed").
///
/// Ranges count Unicode scalars of the text that was reviewed. The quote always equals the text at its range: a finding
/// whose quote is not in the text is dropped by its maker.
public struct Suggestion: Codable, Sendable, Hashable, Identifiable {
    /// Stable across passes: derived from the rule or advisor, the normalised quote and its context.
    public var id: String
    /// The role that made it, or ``quickPass``.
    public var advisorID: String
    /// The rule of the quick pass that found it; nil for a model's finding.
    public var rule: String?
    /// The requested action.
    public var type: SuggestionType
    /// Its topic, in one word: `clarity`, `grammar`, `style`, `structure`, `tone`, `wordiness` and so on.
    public var category: String
    /// From 1, the most important, to 5.
    public var priority: Int
    /// The maker's confidence, 0 to 1.
    public var confidence: Double
    /// The existing words.
    public var originalText: String
    /// Empty for a removal, or for advice without its own wording (see ``hasReplacement``).
    public var suggestedText: String
    /// Whether ``suggestedText`` can replace the original verbatim.
    public var hasReplacement: Bool
    /// The reason, for the writer.
    public var reasoning: String
    /// The place.
    public var anchor: TextAnchor
    /// Who made it, if it was neither the quick pass nor a model.
    public var origin: Origin?

    /// Reviewers that are no passes of ours. Their findings have no ``rule``, and ``advisorID`` is their name.
    public enum Origin: String, Codable, Sendable {
        /// Somebody has added it: it stays until it is answered, or its words are gone.
        case added
        /// The program of a review found it: it stays until that runs again.
        case program
    }

    /// The advisor id of findings that no model made.
    public static let quickPass = "quick"
    /// The advisor id of findings of a project's styles.
    public static let styles = "styles"

    /// A finding with all its properties.
    public init(
        id: String, advisorID: String, rule: String? = nil, type: SuggestionType, category: String, priority: Int,
        confidence: Double, originalText: String, suggestedText: String, hasReplacement: Bool, reasoning: String,
        anchor: TextAnchor, origin: Origin? = nil
    ) {
        self.id = id
        self.advisorID = advisorID
        self.rule = rule
        self.type = type
        self.category = category
        self.priority = priority
        self.confidence = confidence
        self.originalText = originalText
        self.suggestedText = suggestedText
        self.hasReplacement = hasReplacement
        self.reasoning = reasoning
        self.anchor = anchor
        self.origin = origin
    }

    /// Whether one is of a project's styles, and the other by the same rule about the same words, from another program
    /// that reads these styles.
    package func repeats(_ other: Suggestion) -> Bool {
        let (own, others) = advisorID == Self.styles ? (self, other) : (other, self)
        return own.advisorID == Self.styles && others.origin != nil && others.category == own.rule
            && own.anchor.range.overlaps(others.anchor.range)
    }

    /// The rule of the quick pass, else the advisor.
    var maker: String { rule ?? advisorID }
}
