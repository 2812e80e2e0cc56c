/// Looks for what needs no model to be found: passives with their agent, weak and wordy phrases, repeated words, very long
/// sentences, and what a role minds in particular.
///
/// Made once from the bundle's data, then shared: it holds nothing of a draft. Works on a core by itself and never blocks.
public struct QuickPass: Sendable {
    /// What a pass looks for.
    public struct Settings: Sendable, Hashable {
        /// The roles whose own rules apply as well.
        public var roles: [String]
        /// Rules that the user has switched off, or that have muted themselves (``RuleAnswers/mutedRules(_:)``).
        public var ignoredRules: Set<String>
        /// A sentence with more words is long: between two semicolons, colons or dashes; as a whole half as many again.
        /// In a story each is half as much again.
        public var longSentence: Int

        /// By default: the rules for every draft, sentences of more than 40 words.
        public init(roles: [String] = [], ignoredRules: Set<String> = [], longSentence: Int = 40) {
            self.roles = roles
            self.ignoredRules = ignoredRules
            self.longSentence = longSentence
        }
    }

    let lexicon: QuickLexicon

    /// Reads the rules from the bundle. Blocks for a moment.
    ///
    /// - Throws: `Fault` that names the file that is missing.
    public init() throws { try self.init(resources: TKResources.locate()) }

    package init(resources: TKResources) throws { lexicon = try QuickLexicon(resources) }

    /// The rules, in the order in which they are named to users.
    public var rules: [QuickRule] {
        let own = [
            QuickRule(id: "passive", title: "Passives with their agent", category: "clarity"),
            QuickRule(id: "passive-density", title: "Passives in many sentences", category: "clarity"),
            QuickRule(id: "long-sentence", title: "Long sentences", category: "clarity"),
            QuickRule(id: "repeated-word", title: "Words that stand twice", category: "grammar"),
        ]
        return own
            + zip(lexicon.rules, lexicon.roles).map { rule, role in
                QuickRule(id: rule.id, title: rule.title, category: rule.category, role: role)
            }
    }

    /// The findings in a draft, by position. Each quote equals the draft at its range.
    public func suggestions(
        for draft: DraftText, mask: DraftMask? = nil, settings: Settings = Settings()
    ) -> [Suggestion] {
        let mask = mask ?? DraftMask(draft)
        let languages = DraftLanguages(draft, mask, lexicon)
        var scan = QuickScan(
            draft, lexicon: lexicon, settings: settings, blocks: mask.blocks, languages: languages)
        mask.scalars.withUnsafeBufferPointer { scan.run($0) }
        var report = QuickReport(draft: draft, mask: mask, lexicon: lexicon)
        return report.suggestions(from: scan.findings, settings: settings)
    }
}
