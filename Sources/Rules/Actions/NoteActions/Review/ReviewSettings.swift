import Platform
import TKCore

/// A rule's review settings. Equal settings find the same in the same text.
package struct ReviewSettings: Codable, Sendable, Equatable {
    /// A kind of review.
    package enum Pass: String, Codable, Sendable, CaseIterable {
        /// The built-in rules, without a model.
        case quick
        /// The advisors' findings; asks a model.
        case advisors
        /// The advisors' debate; asks a model.
        case council
        /// What a program finds.
        case program
    }

    package var passes: [Pass]
    /// The advisors to ask. Their own rules also apply in the quick pass.
    package var advisors: [String]
    /// Genre, given to the advisors as context.
    package var storyType: String?
    /// Provider, model and server behind the advisors, as configured; nil if no model is asked.
    package var model: String?
    /// Whether the advisors are those of the story type because the rule names none; nil as false.
    package var followsType: Bool?
    /// How far along the draft is, given to the advisors; nil if the writer has not said so.
    package var stage: DraftStage?
    /// The program's command and surroundings, as the rule has them; nil without that pass.
    package var program: String?
    /// The hash of the styles of the draft's project; nil without any.
    package var styles: ContentHash?
    /// The hash of the words of the user and the project; nil without any, and if a model is asked.
    package var words: ContentHash?
    /// Disabled rules.
    package var ignored: [String]
    /// Whether the rules of ``QuickPass/strictRules`` apply; nil in what an older version stored, as false.
    package var strictStyle: Bool?
    /// A sentence with more words counts as long.
    package var longSentence: Int
    /// Increased when the passes change what they look for.
    package var edition = 2

    package init(
        passes: [Pass] = [.quick], advisors: [String] = [], storyType: String? = nil, ignored: [String] = [],
        strictStyle: Bool = false, longSentence: Int = 40
    ) {
        self.passes = passes
        self.advisors = advisors
        self.storyType = storyType
        self.ignored = ignored.sorted()
        self.strictStyle = strictStyle
        self.longSentence = longSentence
    }

    /// Whether a pass needs a model.
    package var asksModel: Bool { passes.contains(.advisors) || passes.contains(.council) }

    /// Whether a pass needs a model or another program, so that its findings come later than the decision to ask.
    package var asksOthers: Bool { asksModel || passes.contains(.program) }

    package var hash: ContentHash {
        var parts = [
            passes.map(\.rawValue), advisors, ignored, ["\(longSentence)", "\(edition)"], [storyType ?? ""],
            [model ?? ""], strictStyle == true ? ["strict"] : [],
        ]
        if let stage { parts.append([stage.rawValue]) }
        if let program { parts.append([program]) }
        if let styles { parts.append(["\(styles)"]) }
        if let words { parts.append(["words \(words)"]) }
        return ContentHash(of: Array(parts.map { $0.joined(separator: ",") }.joined(separator: ";").utf8))
    }
}
