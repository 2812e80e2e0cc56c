/// A rule of the quick pass, for display and settings.
public struct QuickRule: Sendable, Hashable, Identifiable {
    /// Its id in settings, comments and findings: `weak-words`, `ux_writer.link`.
    public var id: String
    /// Its display name, in the plural.
    public var title: String
    /// As in ``Suggestion/category``.
    public var category: String
    /// The role that gives this advice; nil: it applies to every draft.
    public var role: String?
}

/// The writer's answers to the findings of one rule.
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

    /// This many skips, without a single acceptance, mute a rule.
    public static let skipsThatMute = 8
    /// A rule is also muted if fewer than one in this many findings is accepted.
    public static let skipsPerAcceptance = 20

    /// Whether the rule is disabled.
    public var isMuted: Bool { skipped >= max(Self.skipsThatMute, accepted * Self.skipsPerAcceptance) }

    /// The muted rules, disabled until the writer's answers are reset.
    public static func mutedRules(_ answers: [String: RuleAnswers]) -> Set<String> {
        Set(answers.filter(\.value.isMuted).keys)
    }
}
