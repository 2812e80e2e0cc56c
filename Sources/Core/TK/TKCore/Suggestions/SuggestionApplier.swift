/// Applies accepted suggestions to a text that may have changed since they were made
/// (docs/design/draft-anchors.md, "What a proposal may change").
///
/// A suggestion is applied only at its quote, found by its anchor. Everything outside the quotes is unchanged, scalar
/// by scalar.
public struct SuggestionApplier: Sendable {
    /// The outcome of one suggestion.
    public enum Outcome: Sendable, Hashable {
        /// Applied; the range is in the original text.
        case applied(Range<Int>)
        /// A model rebased it onto words that have changed since.
        case merged(Range<Int>)
        /// The text already contains it.
        case alreadyThere
        /// It has no wording to apply.
        case withoutWording
        /// Overlaps another accepted suggestion, which is more important.
        case conflict(with: String)
        /// The words have changed, or occur in several places: the candidates.
        case drifted([Range<Int>])
        /// The words are gone.
        case orphaned
        /// It would change more than words (``ProposalGate``): a description for a person.
        case refused(String)
    }

    /// A suggestion and its outcome.
    public struct Report: Sendable, Hashable {
        /// As passed in.
        public var suggestion: Suggestion
        /// The outcome.
        public var outcome: Outcome
        /// Why a model's proposal was rejected, for a person.
        public var note: String?
        /// The place of its words in the new text; nil if nothing was applied.
        public internal(set) var place: Range<Int>?

        init(_ suggestion: Suggestion, _ outcome: Outcome, note: String? = nil) {
            (self.suggestion, self.outcome, self.note) = (suggestion, outcome, note)
        }
    }

    /// The new text, and the outcome of each suggestion.
    public struct Result: Sendable, Hashable {
        /// The text with everything applied.
        public var text: String
        /// One for each suggestion, in the order in which they were given.
        public var reports: [Report]

        /// The number of suggestions that changed the text.
        public var appliedCount: Int { applied.count }

        /// Those that are in the text now.
        public var applied: [Suggestion] {
            all {
                switch $0 {
                case .applied, .merged: true
                default: false
                }
            }
        }
        /// Those that the text had already.
        public var alreadyThere: [Suggestion] { all { $0 == .alreadyThere } }
        /// Those without wording.
        public var withoutWording: [Suggestion] { all { $0 == .withoutWording } }
        /// Those whose words are gone.
        public var orphaned: [Suggestion] { all { $0 == .orphaned } }
        /// Those that yielded to another.
        public var conflicts: [Suggestion] {
            all { if case .conflict = $0 { true } else { false } }
        }
        /// Those that would change more than words.
        public var refused: [Suggestion] {
            all { if case .refused = $0 { true } else { false } }
        }
        /// Those whose words have changed.
        public var drifted: [Suggestion] {
            all { if case .drifted = $0 { true } else { false } }
        }

        private func all(_ isMeant: (Outcome) -> Bool) -> [Suggestion] {
            reports.filter { isMeant($0.outcome) }.map(\.suggestion)
        }
    }

    /// A change of one range, before any is made.
    struct Edit: Sendable {
        var index: Int
        var range: Range<Int>
        var replacement: String
        var isMerged = false
        /// 0 for the most important.
        var rank = 0
    }

    /// Applies suggestions without a model.
    ///
    /// Of overlapping suggestions, the one with the highest priority is applied; one that would leave the same text
    /// counts as applied too.
    ///
    /// - Parameters:
    ///   - accepted: with the accepted words in `suggestedText`.
    ///   - previous: the text from which they were made, if available; it gives their places most reliably.
    ///   - ownWords: the ids of those whose words the writer has typed. No gate restricts writers in their own text.
    public static func apply(
        _ accepted: [Suggestion], to draft: DraftText, previous: DraftText? = nil, ownWords: Set<String> = []
    ) -> Result {
        let placed = place(accepted, in: draft, previous: previous)
        return finish(placed.edits, placed.outcomes, accepted, draft, ownWords)
    }

    /// Applies suggestions without a model where possible, then asks one about those whose words have changed. Its
    /// answer counts only if it leaves everything outside a small window around the words unchanged.
    ///
    /// - Throws: errors from the recorder, and `CancellationError`. If the model fails, the suggestion stays drifted.
    public static func apply(
        _ accepted: [Suggestion], to draft: DraftText, previous: DraftText? = nil, ownWords: Set<String> = [],
        merging merger: DriftMerger
    ) async throws -> Result {
        var placed = place(accepted, in: draft, previous: previous)
        var notes: [Int: String] = [:]
        let drifted = placed.outcomes.compactMap { index, outcome -> (Int, Range<Int>)? in
            guard case .drifted(let ranges) = outcome, ranges.count == 1 else { return nil }
            return (index, ranges[0])
        }.sorted { $0.0 < $1.0 }
        let answers = try await inParallel(drifted, limit: merger.model.concurrency) { index, range in
            try await merger.edit(accepted[index], at: range, in: draft)
        }
        for ((index, _), answer) in zip(drifted, answers) {
            switch answer {
            case .success(.edit(let range, let replacement)):
                placed.outcomes[index] = nil
                placed.edits.append(Edit(index: index, range: range, replacement: replacement, isMerged: true))
            case .success(.rejected(let reason)): notes[index] = reason
            case .failure(let error as LLMError): notes[index] = error.message
            case .failure(let error): throw error
            }
        }
        var result = finish(placed.edits, placed.outcomes, accepted, draft, ownWords)
        for (index, note) in notes { result.reports[index].note = note }
        return result
    }

    // MARK: Places

    private static func place(
        _ accepted: [Suggestion], in draft: DraftText, previous: DraftText?
    ) -> (edits: [Edit], outcomes: [Int: Outcome]) {
        let resolver = AnchorResolver(draft, previous: previous)
        let context = AnchorContext(draft)
        var edits: [Edit] = []
        var outcomes: [Int: Outcome] = [:]
        for (index, suggestion) in accepted.enumerated() {
            guard suggestion.hasReplacement else {
                outcomes[index] = .withoutWording
                continue
            }
            let resolution = resolver.resolve(suggestion.anchor)
            if case .unchanged(let range) = resolution {
                edits.append(Edit(index: index, range: range, replacement: suggestion.suggestedText))
                continue
            }
            let quotePlace = resolution.isCertain ? resolution.range : nil
            if context.holds(suggestion, quoteAt: quotePlace, resolver) {
                outcomes[index] = .alreadyThere
            } else if let range = quotePlace {
                let words = WordMerge.carry(suggestion.anchor.exact, to: suggestion.suggestedText, over: draft[range])
                edits.append(Edit(index: index, range: range, replacement: words))
            } else {
                switch resolution {
                case .fuzzy(let range, _): outcomes[index] = .drifted([range])
                case .ambiguous(let ranges): outcomes[index] = .drifted(ranges)
                case .unchanged, .mapped, .exact, .normalised, .orphan: outcomes[index] = .orphaned
                }
            }
        }
        return (edits, outcomes)
    }

    // MARK: The new text

    private static func finish(
        _ edits: [Edit], _ outcomes: [Int: Outcome], _ accepted: [Suggestion], _ draft: DraftText,
        _ ownWords: Set<String>
    ) -> Result {
        var outcomes = outcomes
        let gate = ProposalGate(draft)
        let endings = LineEndings(draft.scalars)
        var chosen = ChosenEdits()
        // By an edit's index, the equivalent edit that was applied in its place.
        var twins: [Int: Int] = [:]
        func isOwn(_ edit: Edit) -> Bool { !edit.isMerged && ownWords.contains(accepted[edit.index].id) }
        let ranked = edits.sorted { one, other in
            if one.isMerged != other.isMerged { return other.isMerged }
            return SuggestionOrder.byImportance(accepted[one.index], accepted[other.index])
        }
        for (rank, var edit) in ranked.enumerated() {
            edit.rank = rank
            edit.replacement = endings.adapted(edit.replacement)
            let outcome: Outcome = edit.isMerged ? .merged(edit.range) : .applied(edit.range)
            if draft[edit.range] == edit.replacement {
                outcomes[edit.index] = .alreadyThere
            } else if !isOwn(edit), let objection = gate.objection(to: edit.replacement, at: edit.range) {
                outcomes[edit.index] = .refused(objection)
            } else if let other = chosen.clashing(with: edit) {
                let isTwin = leaveTheSame(other, edit, draft)
                if isTwin { twins[edit.index] = other.index }
                outcomes[edit.index] = isTwin ? outcome : .conflict(with: accepted[other.index].id)
            } else {
                chosen.insert(edit)
                outcomes[edit.index] = outcome
            }
        }
        let own = chosen.edits.filter(isOwn)
        var (text, places) =
            own.count == chosen.edits.count
            ? composed(chosen.edits, draft)
            : composed(chosen.edits, own, draft, &outcomes)
        for (index, twin) in twins {
            if case .refused? = outcomes[twin] { outcomes[index] = outcomes[twin] }
            places[index] = places[twin]
        }
        var reports = accepted.enumerated().map { Report($1, outcomes[$0] ?? .orphaned) }
        for (index, place) in places { reports[index].place = place }
        return Result(text: text, reports: reports)
    }

    /// The draft with compatible edits in text order, and the place of each in it, by index.
    private static func composed(_ edits: [Edit], _ draft: DraftText) -> (text: String, places: [Int: Range<Int>]) {
        var text = String.UnicodeScalarView()
        var position = 0
        var shift = 0
        var places: [Int: Range<Int>] = [:]
        for edit in edits {
            text.append(contentsOf: draft.scalars[position..<edit.range.lowerBound])
            text.append(contentsOf: edit.replacement.unicodeScalars)
            position = edit.range.upperBound
            let start = edit.range.lowerBound + shift
            let count = edit.replacement.unicodeScalars.count
            places[edit.index] = start..<start + count
            shift += count - edit.range.count
        }
        text.append(contentsOf: draft.scalars[position...])
        return (String(text), places)
    }

    /// The same without edits that change more than words only in combination: two backticks are code, one is not.
    private static func composed(
        _ edits: [Edit], _ own: [Edit], _ draft: DraftText, _ outcomes: inout [Int: Outcome]
    ) -> (text: String, places: [Int: Range<Int>]) {
        let ownNumbers = Set(own.map(\.index))
        // The writer's own text is always applied; the rest is checked against the result.
        let base = own.isEmpty ? draft : DraftText(composed(own, draft).text, syntax: draft.syntax)
        let gate = ProposalGate(base)
        var kept = own
        func together(_ more: [Edit]) -> [Edit] {
            (kept + more).sorted {
                ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
            }
        }
        var pending = [edits.filter { !ownNumbers.contains($0.index) }.sorted { $0.rank < $1.rank }]
        while let batch = pending.popLast() {
            guard !batch.isEmpty else { continue }
            guard let objection = gate.objection(to: composed(together(batch), draft).text) else {
                kept += batch
                continue
            }
            if batch.count == 1 {
                outcomes[batch[0].index] = .refused(objection)
            } else {
                let half = batch.count / 2
                pending += [Array(batch[half...]), Array(batch[..<half])]
            }
        }
        return composed(together([]), draft)
    }

    private static func leaveTheSame(_ one: Edit, _ other: Edit, _ draft: DraftText) -> Bool {
        let whole =
            min(one.range.lowerBound, other.range.lowerBound)..<max(one.range.upperBound, other.range.upperBound)
        func after(_ edit: Edit) -> String {
            draft[whole.lowerBound..<edit.range.lowerBound] + edit.replacement
                + draft[edit.range.upperBound..<whole.upperBound]
        }
        return after(one).unicodeScalars.elementsEqual(after(other).unicodeScalars)
    }
}
