import Platform

/// Finds what a project's own styles forbid, without a model (docs/tk.md, "House rules").
///
/// Made once from a `.vale.ini`, then shared: it holds nothing of a draft. Uses one core and never blocks.
package struct StylePass: Sendable {
    /// The findings of one draft.
    package struct Result: Sendable {
        /// By position. Each quote equals the draft at its range.
        package var suggestions: [Suggestion] = []
        /// A sentence for each rule that did not finish, and for a missing dictionary that one needs.
        package var notices: [String] = []
        /// The work of all rules, in units of text: grows no faster than the draft.
        var steps = 0

        package init(notices: [String] = []) { self.notices = notices }
    }

    package let library: StyleLibrary
    private let lexicon: QuickLexicon
    private let spelling: Spelling?
    private let checker: (any WordChecker)?

    /// - Parameters:
    ///   - quick: tells where sentences end; has the dictionaries for rules that extend `spelling`.
    ///   - checker: instead of its dictionaries.
    package init(_ library: StyleLibrary, quick: QuickPass, checker: (any WordChecker)? = nil) {
        (self.library, lexicon, spelling, self.checker) = (library, quick.lexicon, quick.spelling, checker)
    }

    /// - Parameters:
    ///   - file: the draft's; decides which sections of `.vale.ini` apply.
    ///   - ignoredRules: `Style.Rule`s that are off.
    ///   - knownWords: correct in this draft: ``Spelling/words(for:_:)``.
    ///   - memory: may know an earlier version of the draft: then only changed units are matched. It holds this version
    ///     afterwards.
    package func review(
        _ draft: DraftText, file: BytePath, mask: DraftMask? = nil, ignoredRules: Set<String> = [],
        knownWords: Set<String> = [], memory: StyleMemory? = nil
    ) -> Result {
        var result = Result()
        let effective = library.settings.effective(for: file)
        let rules = library.rules.filter { rule in
            rule.level >= library.settings.minimum && effective.runs(rule) && !ignoredRules.contains(rule.name)
        }
        guard !rules.isEmpty, draft.syntax != .unknown else { return result }
        let mask = mask ?? DraftMask(draft)
        let units = StyleUnits(draft, mask, ignored: ignoredRanges(effective.ignores, draft, &result))
        var all = units.all(lexicon)
        if rules.contains(where: { $0.scopes.contains { $0.required.contains("raw") } }) { all.append(units.raw) }
        let ending = file.stemAndExtension.extension.map { String(decoding: $0, as: UTF8.self) }
        var scan = StyleScan(
            all, ending: ending, spelling: speller(rules, draft, mask, knownWords, &result),
            circumstances: memory.map { _ in
                StyleReading.Circumstances(library: library.hash, rules: rules.map(\.name), ending: ending)
            }, earlier: memory?.latest)
        let (unfinished, steps) = scan.run(rules)
        // Of a rule that ran out of its time, findings are missing.
        memory?.latest = unfinished.isEmpty ? scan.reading : nil
        result.steps = steps
        for rule in unfinished {
            result.notices.append(
                "\(rule.name) ran out of its time; simplify its pattern, or switch it off in \(library.settings.path)")
        }
        let comments = StyleComments(draft)
        let kept = scan.findings.filter { finding in
            !comments.silence(finding) && !mask.isExempt(finding.range, rule: finding.rule.name.lowercased())
                && (!finding.isProse || mask.kinds(in: finding.range).contains(.prose))
        }
        result.suggestions = suggestions(kept, draft, mask, &result.steps)
        return result
    }

    /// nil without rules about spelling, and without a dictionary of the draft's language.
    private func speller(
        _ rules: [StyleRule], _ draft: DraftText, _ mask: DraftMask, _ words: Set<String>, _ result: inout Result
    ) -> StyleSpelling? {
        let isNeeded = rules.contains { rule in
            if case .spelling = rule.check { true } else { false }
        }
        guard isNeeded else { return nil }
        if let checker { return StyleSpelling(checker, words: words) }
        guard let spelling else { return nil }
        let language = DraftLanguages(draft, mask, lexicon).main
        let region = StatedLanguage.region(in: draft)
        guard let checker = spelling.checker(language, region: region) else {
            if language != LanguageTable.unknown { result.notices.append(spelling.absence(language, region: region)) }
            return nil
        }
        return StyleSpelling(checker, words: words)
    }

    /// What `BlockIgnores` and `TokenIgnores` match in the source.
    private func ignoredRanges(_ patterns: [String], _ draft: DraftText, _ result: inout Result) -> [Range<Int>] {
        guard !patterns.isEmpty else { return [] }
        let source = StyleUnit(["raw"], draft.scalars, [])
        var ranges: [Range<Int>] = []
        for pattern in patterns {
            var budget = StylePattern.Budget()
            // A pattern that is invalid was reported when the styles were loaded.
            guard let compiled = library.ignores[pattern] else { continue }
            ranges += compiled.matches(in: source.units, &budget).compactMap { $0[0] }.map(source.scalarRange)
            if budget.isSpent {
                result.notices.append("the pattern `\(pattern)` in \(library.settings.path) ran out of its time")
            }
        }
        return ranges
    }

    private func suggestions(
        _ findings: [StyleScan.Finding], _ draft: DraftText, _ mask: DraftMask, _ steps: inout Int
    ) -> [Suggestion] {
        let gate = ProposalGate(draft, mask: mask)
        var occurrences: [String: Int] = [:]
        var readings = 0
        defer { steps += readings * draft.count }
        let sorted = findings.sorted {
            ($0.range.lowerBound, $0.range.upperBound, $0.rule.name)
                < ($1.range.lowerBound, $1.range.upperBound, $1.rule.name)
        }
        return sorted.map { finding in
            let anchor = draft.anchor(of: finding.range)
            func id(_ occurrence: Int) -> String {
                FindingIdentity.id(
                    maker: finding.rule.name, quote: anchor.exact, before: anchor.prefix, after: anchor.suffix,
                    occurrence: occurrence)
            }
            let first = id(0)
            let count = occurrences[first, default: 0]
            occurrences[first] = count + 1
            let proposal = finding.proposal.flatMap { words -> String? in
                guard Self.isSimple(words), anchor.range == finding.range, words != anchor.exact else { return nil }
                if gate.isPlain(words, at: finding.range) { return words }
                // Else the gate reads the draft again.
                guard mask.isPlain(finding.range, in: draft), readings < Self.mostReadings else { return nil }
                readings += 1
                return gate.objection(to: words, at: finding.range) == nil ? words : nil
            }
            let link = finding.rule.link.map { " (\($0))" } ?? ""
            return Suggestion(
                id: count == 0 ? first : id(count), advisorID: Suggestion.styles, rule: finding.rule.name,
                type: proposal.map { $0.isEmpty ? .remove : .fix } ?? .improve,
                category: SuggestionCategory.style.rawValue, priority: finding.rule.level.priority,
                confidence: finding.rule.level.confidence, originalText: anchor.exact, suggestedText: proposal ?? "",
                hasReplacement: proposal != nil, reasoning: finding.message + link, anchor: anchor)
        }
    }

    /// The number of proposals that the draft is read again for, such as those that begin with a digit.
    private static let mostReadings = 40

    /// Whether a proposal is words alone: options in brackets, such as `pilot(s)`, are for the writer to choose from.
    private static func isSimple(_ words: String) -> Bool {
        words.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || " '\u{2019},-0123456789".unicodeScalars.contains($0)
        }
    }
}
