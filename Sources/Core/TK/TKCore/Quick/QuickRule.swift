/// A rule of the quick pass, as people and settings name it.
public struct QuickRule: Sendable, Hashable, Identifiable {
    /// As settings, comments and findings name it: `weak-words`, `ux_writer.link`.
    public var id: String
    /// For people, in the plural.
    public var title: String
    /// As in ``Suggestion/category``.
    public var category: String
    /// The role whose advice it is; nil: it applies to every draft.
    public var role: String?
}

/// What a writer has answered to the findings of one rule.
public struct RuleAnswers: Sendable, Hashable, Codable {
    /// Accepted as proposed or edited.
    public var accepted: Int
    /// Declined.
    public var skipped: Int

    /// No answers yet, by default.
    public init(accepted: Int = 0, skipped: Int = 0) {
        self.accepted = accepted
        self.skipped = skipped
    }

    /// So many skips, and not one finding accepted, mute a rule.
    public static let skipsThatMute = 8
    /// A rule of which fewer are accepted than one in this many is muted as well.
    public static let skipsPerAcceptance = 20

    /// Whether the rule is to be left out.
    public var isMuted: Bool { skipped >= max(Self.skipsThatMute, accepted * Self.skipsPerAcceptance) }

    /// The rules on whose findings nobody acts: they are left out from now on, until the writer's answers are reset.
    public static func mutedRules(_ answers: [String: RuleAnswers]) -> Set<String> {
        Set(answers.filter(\.value.isMuted).keys)
    }
}
