/// Turns findings into suggestions: wording, anchors, ids; skips those that are exempt, ignored, masked or overlapped.
struct QuickReport {
    let draft: DraftText
    let mask: DraftMask
    let lexicon: QuickLexicon
    private let gate: ProposalGate

    init(draft: DraftText, mask: DraftMask, lexicon: QuickLexicon) {
        (self.draft, self.mask, self.lexicon) = (draft, mask, lexicon)
        gate = ProposalGate(draft, mask: mask)
    }

    mutating func suggestions(from findings: [QuickScan.Finding], settings: QuickPass.Settings) -> [Suggestion] {
        var kept: [(finding: QuickScan.Finding, words: Wording)] = []
        for found in findings {
            let finding = sparingMarkup(found)
            let words = wording(of: finding)
            let isWanted =
                settings.wants(words.rule)
                && !mask.isExempt(finding.range, rule: words.rule)
                && draft.graphemeRange(around: finding.range) == finding.range
            if isWanted { kept.append((finding, words)) }
        }
        kept.sort {
            ($0.finding.range.lowerBound, $0.words.priority, $1.finding.range.upperBound)
                < ($1.finding.range.lowerBound, $1.words.priority, $0.finding.range.upperBound)
        }
        var occurrences: [String: Int] = [:]
        return withoutOverlaps(kept).map { suggestion($0.finding, $0.words, &occurrences) }
    }

    /// A finding whose replacement would remove emphasis, links or line breaks becomes a remark about its own words.
    private func sparingMarkup(_ finding: QuickScan.Finding) -> QuickScan.Finding {
        guard let replacement = finding.replacement else { return finding }
        // A number moved to the start of a line may open a list.
        let isSafe =
            mask.isPlain(finding.range, in: draft) && !replacement.allSatisfy(\.isNumber)
            && gate.objection(to: replacement, at: finding.range) == nil
        guard !isSafe else { return finding }
        var remark = finding
        remark.isRemark = true
        remark.range = finding.phrase ?? finding.range
        return remark
    }

    struct Wording {
        var rule: String
        var type: SuggestionType
        var category: String
        var priority: Int
        var confidence: Double
        var message: String
    }

    /// Of findings about the same words the more important one wins, then the longer one. A finding about a whole
    /// sentence or the whole draft does not compete.
    private func withoutOverlaps(
        _ findings: [(finding: QuickScan.Finding, words: Wording)]
    ) -> [(finding: QuickScan.Finding, words: Wording)] {
        var kept: [(finding: QuickScan.Finding, words: Wording)] = []
        /// The last finding that competes.
        var last: Int?
        for next in findings {
            guard next.finding.rule != .longSentence, next.finding.rule != .passiveDensity else {
                kept.append(next)
                continue
            }
            if let index = last, kept[index].finding.range.overlaps(next.finding.range) {
                let isBetter =
                    (next.words.priority, -next.finding.range.count)
                    < (kept[index].words.priority, -kept[index].finding.range.count)
                if !isBetter { continue }
                kept.remove(at: index)
            }
            kept.append(next)
            last = kept.count - 1
        }
        return kept
    }

    private func suggestion(
        _ finding: QuickScan.Finding, _ words: Wording, _ occurrences: inout [String: Int]
    ) -> Suggestion {
        let anchor = draft.anchor(of: finding.range)
        let quote = finding.identityEnd.map { draft[finding.range.lowerBound..<$0] } ?? anchor.exact
        // The text after a long sentence's beginning is the sentence itself, and may change.
        let after = finding.identityEnd == nil ? anchor.suffix : ""
        let base = FindingIdentity.id(maker: words.rule, quote: quote, before: anchor.prefix, after: after)
        let count = occurrences[base, default: 0]
        occurrences[base] = count + 1
        let id =
            count == 0
            ? base
            : FindingIdentity.id(
                maker: words.rule, quote: quote, before: anchor.prefix, after: after, occurrence: count)
        let replacement = finding.isRemark ? nil : finding.replacement
        return Suggestion(
            id: id, advisorID: Suggestion.quickPass, rule: words.rule, type: words.type, category: words.category,
            priority: words.priority, confidence: words.confidence, originalText: anchor.exact,
            suggestedText: replacement ?? "", hasReplacement: replacement != nil, reasoning: words.message,
            anchor: anchor)
    }

    private func wording(of finding: QuickScan.Finding) -> Wording {
        switch finding.rule {
        case .phrase(let number):
            let rule = lexicon.rules[number]
            let removal = finding.isRemoval && finding.caution == nil ? rule.removal : nil
            let isRemoval = removal != nil
            let type: SuggestionType = finding.caution == nil ? rule.type : .improve
            return Wording(
                rule: rule.id, type: isRemoval ? .remove : type, category: rule.category, priority: rule.priority,
                confidence: rule.confidence,
                message: fill(
                    finding.caution ?? removal ?? rule.message, finding, quote: isRemoval ? finding.detail : nil))
        case .passive:
            return Wording(
                rule: "passive", type: .rephrase, category: "clarity", priority: 3, confidence: 0.75,
                message: "Passive with its agent named behind “by”: let the agent be the subject, unless the stress is "
                    + "on what is done.")
        case .passiveDensity:
            return Wording(
                rule: "passive-density", type: .improve, category: "clarity", priority: 4, confidence: 0.6,
                message:
                    "\(finding.detail) sentences of this draft are in the passive, this is the first: say more often "
                    + "who does what.")
        case .longSentence:
            return Wording(
                rule: "long-sentence", type: .rephrase, category: "clarity", priority: 3, confidence: 0.7,
                message: "This sentence has \(finding.detail) words; readers lose hold of it. Make two or three of it.")
        case .repeatedWord:
            return Wording(
                rule: "repeated-word", type: .fix, category: "grammar", priority: 1, confidence: 0.9,
                message: "“\(oneLine(finding.detail))” stands here twice.")
        case .spelling:
            return Wording(
                rule: QuickPass.spellingRule, type: .fix, category: "grammar", priority: 2,
                confidence: finding.replacement == nil ? 0.6 : 0.8, message: finding.caution ?? "")
        case .unknownWord:
            return Wording(
                rule: QuickPass.unknownWordRule, type: .fix, category: "grammar", priority: 3, confidence: 0.4,
                message: finding.caution ?? "")
        }
    }

    private func fill(_ message: String, _ finding: QuickScan.Finding, quote: String?) -> String {
        message.replacing("{quote}", with: oneLine(quote ?? draft[finding.range]))
            .replacing("{word}", with: oneLine(finding.detail))
            .replacing("{replacement}", with: oneLine(finding.replacement ?? ""))
    }

    private func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
