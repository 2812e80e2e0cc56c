import Platform

/// What a rule asks of a review; equal settings find the same in the same text.
package struct ReviewSettings: Codable, Sendable, Equatable {
    /// A way of looking at a draft.
    package enum Pass: String, Codable, Sendable, CaseIterable {
        /// The program's own rules, without any model.
        case quick
        /// The advisors' findings; asks a model.
        case advisors
        /// The advisors' debate; asks a model.
        case council
    }

    package var passes: [Pass]
    /// Who is asked; their own rules apply in the quick pass as well.
    package var advisors: [String]
    /// The genre whose context the advisors are told.
    package var storyType: String?
    /// Who speaks for the advisors: provider, model and server as they are configured; nil where nobody is asked.
    package var model: String?
    /// Rules that are left out.
    package var ignored: [String]
    /// A sentence with more words is long.
    package var longSentence: Int
    /// Changes with what the passes look for.
    package var edition = 1

    package init(
        passes: [Pass] = [.quick], advisors: [String] = [], storyType: String? = nil, ignored: [String] = [],
        longSentence: Int = 40
    ) {
        self.passes = passes
        self.advisors = advisors
        self.storyType = storyType
        self.ignored = ignored.sorted()
        self.longSentence = longSentence
    }

    /// Whether a pass needs a model.
    package var asksModel: Bool { passes.contains(.advisors) || passes.contains(.council) }

    package var hash: ContentHash {
        let parts = [
            passes.map(\.rawValue), advisors, ignored, ["\(longSentence)", "\(edition)"], [storyType ?? ""],
            [model ?? ""],
        ]
        return ContentHash(of: Array(parts.map { $0.joined(separator: ",") }.joined(separator: ";").utf8))
    }
}
