/// Finds problems without a model: passives with their agent, weak and wordy phrases, repeated words, very long
/// sentences, rules of particular roles, and words that no dictionary knows.
///
/// Made once from the bundle's data, then shared: it holds nothing of a draft. Uses one core; only the first use of
/// a dictionary blocks.
public struct QuickPass: Sendable {
    /// The settings of a pass.
    public struct Settings: Sendable, Hashable {
        /// The roles whose own rules apply as well.
        public var roles: [String]
        /// Rules switched off by the user, or muted by the user's answers (``RuleAnswers/mutedRules(_:)``).
        public var ignoredRules: Set<String>
        /// Those of ``QuickPass/strictRules`` that apply.
        public var strictRules: Set<String>
        /// The limit for a long sentence, in words: between semicolons, colons or dashes; half as many again for the
        /// whole sentence. In a story, both are three times that. Up to a quarter above the limit, only tangled sentences
        /// count.
        public var longSentence: Int
        /// Words that count as correct in this draft: ``Spelling/words(for:_:)``.
        public var knownWords: Set<String> = []

        /// Default: the rules for every draft, none of the strict ones, sentences of more than 40 words.
        public init(
            roles: [String] = [], ignoredRules: Set<String> = [], strictRules: Set<String> = [], longSentence: Int = 40
        ) {
            (self.roles, self.ignoredRules, self.longSentence) = (roles, ignoredRules, longSentence)
            self.strictRules = strictRules
        }

        /// Whether findings of a rule are reported.
        func wants(_ rule: String) -> Bool {
            !ignoredRules.contains(rule) && (!QuickPass.strictRules.contains(rule) || strictRules.contains(rule))
        }
    }

    /// Rules that are off unless ``Settings/strictRules`` names them: most of their findings are matters of taste, or
    /// terms.
    public static let strictRules: Set<String> = ["passive", "passive-density", unknownWordRule, "weak-words"]

    let lexicon: QuickLexicon
    /// Nil: spelling is not checked, and the findings do not depend on this machine's dictionaries.
    package let spelling: Spelling?

    /// Reads the rules from the bundle. Blocks briefly.
    ///
    /// - Throws: `Fault` that names the missing file.
    public init() throws { try self.init(resources: TKResources.locate()) }

    /// - Parameter spelling: turns on the rule `spelling`.
    package init(resources: TKResources, spelling: Spelling? = nil) throws {
        lexicon = try QuickLexicon(resources)
        self.spelling = spelling
    }

    /// The rule of words in no dictionary that are probably slips. Without it spelling is not checked at all.
    package static let spellingRule = "spelling"
    /// The rule of the other words in no dictionary.
    package static let unknownWordRule = "unknown-word"

    /// Whether findings of a rule are about one word that a user may declare correct.
    package static func isSpelling(_ rule: String?) -> Bool { rule == spellingRule || rule == unknownWordRule }

    /// The rules, in display order.
    public var rules: [QuickRule] {
        let own = [
            QuickRule(id: "passive", title: "Passives with their agent", category: "clarity"),
            QuickRule(id: "passive-density", title: "Passives in many sentences", category: "clarity"),
            QuickRule(id: "long-sentence", title: "Long sentences", category: "clarity"),
            QuickRule(id: "repeated-word", title: "Words that stand twice", category: "grammar"),
            QuickRule(id: Self.spellingRule, title: "Misspelt words", category: "grammar"),
            QuickRule(id: Self.unknownWordRule, title: "Words in no dictionary", category: "grammar"),
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
        read(draft, mask ?? DraftMask(draft), settings, since: nil).suggestions
    }

    /// The same findings, and why the draft's spelling is not checked; nil if it is, or is not wanted.
    ///
    /// - Parameter memory: may know an earlier version of the draft: then only changed blocks are read. It holds this
    ///   version afterwards.
    package func review(
        _ draft: DraftText, mask: DraftMask? = nil, settings: Settings, memory: QuickMemory? = nil
    ) -> (suggestions: [Suggestion], absence: String?) {
        let found = read(draft, mask ?? DraftMask(draft), settings, since: memory?.latest)
        memory?.latest = found.reading
        return (found.suggestions, found.absence)
    }

    private func read(
        _ draft: DraftText, _ mask: DraftMask, _ settings: Settings, since earlier: QuickReading?
    ) -> (suggestions: [Suggestion], reading: QuickReading, absence: String?) {
        let languages = DraftLanguages(draft, mask, lexicon)
        let speller = settings.ignoredRules.contains(Self.spellingRule) ? nil : spelling
        let words = speller.map { SpellingScan(draft, mask, $0, settings) }
        let circumstances = QuickReading.Circumstances(
            syntax: draft.syntax, roles: settings.roles, longSentence: settings.longSentence,
            statedLanguage: languages.stated, usualLanguage: languages.usual, checksSpelling: words != nil,
            region: words?.region)
        var scan = QuickScan(
            draft, lexicon: lexicon, settings: settings, blocks: mask.blocks, languages: languages, spelling: words)
        let kept = earlier.flatMap { KeptBlocks(of: $0, in: draft, mask, circumstances) }
        let findings = mask.scalars.withUnsafeBufferPointer { scan.run($0, kept: kept) }
        var report = QuickReport(draft: draft, mask: mask, lexicon: lexicon)
        return (
            report.suggestions(from: findings, settings: settings),
            QuickReading(circumstances: circumstances, draft: draft, mask: mask, blocks: scan.readings),
            scan.spelling?.absence
        )
    }
}
