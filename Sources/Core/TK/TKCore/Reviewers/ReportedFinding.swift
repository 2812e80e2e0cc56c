/// A finding of another reviewer (a program, an agent, a person), before its words have been found in the draft.
package struct ReportedFinding: Sendable, Equatable {
    /// As the report names it; nil if it does not.
    package var author: String?
    /// The reviewer's name for this kind of finding: `Google.Passive`.
    package var rule: String?
    package var message: String
    /// The file that it is about, as the report names it; nil for the draft.
    package var file: String?
    /// In Unicode scalars of the draft, as the report says; nil if it names no place that exists.
    package var range: Range<Int>?
    /// The words concerned, as the report quotes them.
    package var quote: String?
    /// The text before and after the quote, as far as known.
    package var prefix: String
    package var suffix: String
    /// nil for a remark; empty for a removal.
    package var replacement: String?
    /// Further wordings, for a person to choose from.
    package var alternatives: [String]
    /// From 1, the most important, to 5.
    package var priority: Int
    /// The place, for people, if there is no quote: `3:5`.
    package var place: String?

    package init(
        author: String? = nil, rule: String? = nil, message: String, file: String? = nil, range: Range<Int>? = nil,
        quote: String? = nil, prefix: String = "", suffix: String = "", replacement: String? = nil,
        alternatives: [String] = [], priority: Int = 3, place: String? = nil
    ) {
        (self.author, self.rule, self.message, self.file) = (author, rule, message, file)
        (self.range, self.quote, self.prefix, self.suffix) = (range, quote, prefix, suffix)
        (self.replacement, self.alternatives, self.priority) = (replacement, alternatives, priority)
        self.place = place
    }
}

/// A reported finding that has no place in the draft, and why.
package struct UnplacedFinding: Sendable, Equatable {
    package var finding: ReportedFinding
    /// For a person, as the end of a sentence: `these words are not in the draft`.
    package var reason: String
    /// Whether it is about another file than the draft.
    package var isElsewhere: Bool

    package init(_ finding: ReportedFinding, _ reason: String, isElsewhere: Bool = false) {
        (self.finding, self.reason, self.isElsewhere) = (finding, reason, isElsewhere)
    }
}
