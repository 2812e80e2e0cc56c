import Foundation

/// What a suggestion asks the writer to do.
public enum SuggestionType: String, Codable, Sendable, CaseIterable {
    case fix, improve, rephrase, add, remove
}

/// One finding of a pass over a draft: what stands there, what could stand there, and why
/// (docs/design/advisors.md, "What is believed").
///
/// Ranges count Unicode scalars of the text that was reviewed. The quote always equals the text at its range: a finding
/// whose quote is not in the text is dropped by whoever makes it.
public struct Suggestion: Codable, Sendable, Hashable, Identifiable {
    /// Stable across passes: made of the rule or advisor, the normalised quote and its context.
    public var id: String
    /// The role that says so, or ``quickPass``.
    public var advisorID: String
    /// The rule of the quick pass that found it; nil for a model's finding.
    public var rule: String?
    /// What the writer is asked to do.
    public var type: SuggestionType
    /// What it is about, in one word: `clarity`, `grammar`, `style`, `structure`, `tone`, `wordiness` and so on.
    public var category: String
    /// 1 for what matters most, to 5.
    public var priority: Int
    /// How sure its maker is, 0 to 1.
    public var confidence: Double
    /// The words that stand there.
    public var originalText: String
    /// Empty where the text should go, or where the advice has no wording of its own (``hasReplacement`` tells).
    public var suggestedText: String
    /// Whether ``suggestedText`` can be put in place of the original as it is.
    public var hasReplacement: Bool
    /// Why, for the writer.
    public var reasoning: String
    /// Where.
    public var anchor: TextAnchor

    /// The advisor id of findings that no model made.
    public static let quickPass = "quick"

    /// A finding with all that is known of it.
    public init(
        id: String, advisorID: String, rule: String? = nil, type: SuggestionType, category: String, priority: Int,
        confidence: Double, originalText: String, suggestedText: String, hasReplacement: Bool, reasoning: String,
        anchor: TextAnchor
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
    }

    /// The rule of the quick pass, else the advisor.
    var maker: String { rule ?? advisorID }
}
