import Platform
import TKCore

/// One round of a review, without file access. Input: the draft, the known state and a person's answers. Output: the
/// new state, the sidecar and the draft's new text.
package struct ReviewRound: Sendable {
    /// Finds issues in a text. Called for the draft, and again after answers changed it.
    package typealias Pass = @Sendable (DraftText, _ muted: Set<String>) -> [Suggestion]

    package private(set) var state: ReviewState
    /// The draft's new text; nil if it is unchanged.
    package private(set) var newText: String?
    /// Ids of the findings answered in this round.
    package private(set) var accepted: [String] = []
    package private(set) var skipped: [String] = []
    /// Keys of both. Keys are stable; an id may change with the surrounding words.
    package private(set) var answered: Set<String> = []
    /// Ids of the findings that are new.
    package private(set) var new: [String] = []
    /// Number of unrecognized marks in the sidecar.
    package private(set) var misread = 0
    /// Number of answers that a later save removed from the draft.
    package private(set) var undone = 0
    /// Number of answers pending until the draft may be written.
    package private(set) var waiting = 0
    /// Whether the sidecar holds a person's own words that the next version will not.
    package private(set) var holdsOwnWords = false

    /// Keys of answers whose words are gone from the draft without the old ones being back for certain.
    private var rewritten: Set<String> = []
    /// Whether to write answers into the draft even if an editor has it open.
    package private(set) var isUrgent = false
    /// Answers to `[?]`.
    private let proposals: GivenProposals
    /// Whether an editor makes the changes, so that no answer goes into the draft here.
    private let isInEditor: Bool
    /// By other reviewers, just now.
    private var added: [Suggestion] = []
    private let settings: ReviewSettings
    private var notices = ReviewNotices()
    private let pass: Pass

    /// - Parameters:
    ///   - notices: what the pass has to tell the writer.
    ///   - sidecar: its text on disk; nil if there is none.
    ///   - answers: given elsewhere than in the sidecar, by the findings' keys. They count more than the sidecar's.
    ///   - mayWrite: whether answers may go into the draft now; evaluated only if there are any.
    ///   - isInEditor: whether an editor makes the changes: no answer, not even an urgent one, goes into the draft here.
    ///   - models: what a model said about this draft; nil keeps the earlier findings.
    ///   - proposals: answers to `[?]`; those without one stay asked.
    package init(
        of draft: DraftText, known: ReviewState, sidecar: String?, answers: [String: SidecarAnswers.Answer] = [:],
        settings: ReviewSettings, mayWrite: @autoclosure () throws -> Bool, isInEditor: Bool = false,
        models: ModelFindings? = nil, proposals: GivenProposals = GivenProposals(),
        notices: ReviewNotices = ReviewNotices(), pass: @escaping Pass
    ) rethrows {
        state = known
        (self.settings, self.notices, self.pass) = (settings, notices, pass)
        (self.proposals, self.isInEditor) = (proposals, isInEditor)
        var hasAnswers = readAnswers(sidecar)
        state.spend(proposals.costs)
        let content = ContentHash(of: Array(draft.string.utf8))
        let isKnown = models == nil && Self.isKnown(known, content, settings)
        // First, so that what this text has opened again can be answered.
        if !isKnown { followAnswers(to: draft) }
        if take(answers) { hasAnswers = true }
        guard !isKnown || hasAnswers else { return }
        if !isKnown {
            review(draft, content, models: models)
            state.isOwed = models?.isIncomplete ?? settings.asksOthers
        }
        if hasAnswers { try apply(to: draft, mayWrite: mayWrite) }
        state.sort()
    }

    /// Adds findings of other reviewers, and their answers to `[?]`. The findings of the passes stay, at their places in
    /// this text, whose review by the passes is still to come if it has changed.
    package init(
        adding findings: [Suggestion], answering: GivenProposals = GivenProposals(), to known: ReviewState,
        of draft: DraftText, sidecar: String?
    ) {
        (state, settings) = (known, ReviewSettings(passes: ReviewSettings.Pass.allCases))
        let quick = known.findings.filter(\.isOpen).flatMap(\.all).filter { $0.rule != nil }
        pass = { draft, _ in AnchorResolver(draft).placed(quick) }
        (proposals, isInEditor, added) = (GivenProposals(), false, findings)
        _ = readAnswers(sidecar)
        state.record(answering)
        let content = ContentHash(of: Array(draft.string.utf8))
        review(draft, content)
        state.settings = content == known.content ? known.settings : nil
        state.notices = known.notices
        state.sort()
    }

    /// For a draft that is not text: keeps the known state, and the sidecar says why there is no review.
    package init(
        unreadable reason: String, content: ContentHash, known: ReviewState, sidecar: String?, settings: ReviewSettings
    ) {
        state = known
        self.settings = settings
        pass = { _, _ in [] }
        (proposals, isInEditor) = (GivenProposals(), false)
        _ = readAnswers(sidecar)
        state.unreadable = reason
        state.content = content
        state.settings = settings.hash
    }

    /// Reverts the answers to these findings: reopens them and reviews the text again.
    package init(
        reverting keys: Set<String>, in known: ReviewState, of draft: DraftText, sidecar: String?,
        settings: ReviewSettings, notices: ReviewNotices, pass: @escaping Pass
    ) {
        state = known
        (self.settings, self.notices, self.pass) = (settings, notices, pass)
        (proposals, isInEditor) = (GivenProposals(), false)
        _ = readAnswers(sidecar)
        for index in state.findings.indices where keys.contains(state.findings[index].key) {
            let finding = state.findings[index]
            state.findings[index] = ReviewFinding(
                key: finding.key, suggestion: finding.suggestion, others: finding.others)
        }
        review(draft, ContentHash(of: Array(draft.string.utf8)))
        state.written = state.content
        state.sort()
    }

    /// Reopens answers whose words a save removed from the draft.
    private mutating func followAnswers(to draft: DraftText) {
        guard state.findings.contains(where: { $0.applied != nil }) else { return }
        let answers = FollowedAnswers(draft)
        for index in state.findings.indices {
            switch state.findings[index].follow(answers, in: draft) {
            case .present: break
            case .undone: undone += 1
            case .rewritten: rewritten.insert(state.findings[index].key)
            }
        }
    }

    // MARK: Answers

    /// - Returns: whether there are any.
    private mutating func readAnswers(_ sidecar: String?) -> Bool {
        guard let sidecar else { return false }
        let found = SidecarAnswers(sidecar, of: state)
        var answers = found.byKey
        var asking: Set<String> = []
        for finding in state.findings where finding.isOpen && answers[finding.key]?.mark == .ask {
            let block = found.blocks[finding.key] ?? []
            answers[finding.key]?.question = SidecarQuestions.question(block, about: finding)
            asking.formUnion(SidecarQuestions.added(to: block, of: finding).map(\.line))
        }
        if state.rendered != ContentHash(of: Array(sidecar.utf8)) {
            holdsOwnWords = found.holdsMore(
                than: SidecarAnswers(state.shown ?? ReviewSidecar.text(state)), answered: asking)
        }
        var strays = found.strays[...]
        for finding in state.findings where finding.isOpen && !found.heads.contains(finding.key) {
            answers[finding.key] = strays.popFirst().map { SidecarAnswers.Answer(mark: .unreadable($0)) }
        }
        return take(answers) || state.findings.contains { $0.isOpen && $0.isTicked }
    }

    /// - Parameter answers: by the findings' keys.
    /// - Returns: whether there are any.
    private mutating func take(_ answers: [String: SidecarAnswers.Answer]) -> Bool {
        var hasAnswers = false
        for index in state.findings.indices where state.findings[index].isOpen {
            guard let answer = answers[state.findings[index].key] else { continue }
            state.findings[index].asked = nil
            if let outcome = answer.outcome {
                take(outcome, index)
                hasAnswers = true
                continue
            }
            switch answer.mark {
            case .none:
                state.findings[index].isTicked = false
            case .unknown(let mark):
                state.findings[index].isTicked = false
                state.findings[index].note =
                    "“\(mark)” is not an answer, so nothing was done: x accepts, - skips, ? asks, and nothing else counts."
                misread += 1
                hasAnswers = true
            case .unreadable(let head):
                state.findings[index].isTicked = false
                state.findings[index].note =
                    "“\(head.prefix(80))” was not understood, so nothing was done: begin the block with "
                    + "`- [x] **\(state.findings[index].key)**`, or `[-]` to skip it."
                misread += 1
                hasAnswers = true
            case .ask:
                state.findings[index].isTicked = false
                if let given = proposals.byKey[state.findings[index].key] {
                    state.findings[index].record(given, to: answer.question)
                } else {
                    state.findings[index].asked = answer.question
                }
                hasAnswers = true
            case .skip:
                state.findings[index].state = .skipped
                state.findings[index].isTicked = false
                skipped.append(state.findings[index].suggestion.id)
                answered.insert(state.findings[index].key)
                hasAnswers = true
            case .accept, .acceptNow:
                if answer.mark == .acceptNow { isUrgent = true }
                state.findings[index].isTicked = true
                if let words = answer.proposal, let proposal = state.findings[index].proposal,
                    words != ReviewSidecar.unified(proposal)
                {
                    state.findings[index].edited = words
                }
                hasAnswers = true
            }
        }
        return hasAnswers
    }

    private mutating func take(_ outcome: SidecarAnswers.Outcome, _ index: Int) {
        switch outcome {
        case .applied(let anchor):
            accept(index)
            state.findings[index].applied = anchor
        case .left(let state, let note):
            leave(index, note)
            self.state.findings[index].state = state
        }
    }

    private mutating func apply(to draft: DraftText, mayWrite: () throws -> Bool) rethrows {
        let ticked = state.findings.indices.filter { state.findings[$0].isOpen && state.findings[$0].isTicked }
        for index in ticked where state.findings[index].proposal == nil { accept(index) }
        let wanted = ticked.filter { state.findings[$0].proposal != nil }
        guard !wanted.isEmpty else { return }
        guard try isInEditor ? false : isUrgent ? true : mayWrite() else {
            waiting = wanted.count
            return
        }
        let suggestions = wanted.map { index in
            var suggestion = state.findings[index].suggestion
            suggestion.suggestedText = state.findings[index].proposal ?? ""
            suggestion.hasReplacement = true
            return suggestion
        }
        let ownWords = wanted.filter { state.findings[$0].edited != nil }.map { state.findings[$0].suggestion.id }
        let result = SuggestionApplier.apply(suggestions, to: draft, ownWords: Set(ownWords))
        var keys: [String: String] = [:]
        for finding in state.findings { keys[finding.suggestion.id] = finding.key }
        for (index, report) in zip(wanted, result.reports) {
            switch report.outcome {
            case .applied, .merged, .alreadyThere, .withoutWording: accept(index)
            case .conflict(let other):
                leave(index, "Not applied: it overlaps with \(keys[other] ?? other), which was. Look at it again.")
            case .drifted:
                leave(index, "Not applied: these words have changed, or occur in several places.")
            case .orphaned:
                leave(index, "Not applied: these words are no longer in the draft.")
            case .refused(let what):
                leave(index, "Not applied: it would change \(what). Change the draft by hand, then skip it here.")
            }
        }
        guard result.text != draft.string || !result.text.unicodeScalars.elementsEqual(draft.scalars) else { return }
        let text = DraftText(result.text, syntax: draft.syntax)
        for (index, report) in zip(wanted, result.reports) {
            guard let place = report.place else { continue }
            state.findings[index].applied = FollowedAnswers.anchor(of: place, in: text)
        }
        newText = result.text
        state.previous = ContentHash(of: Array(draft.string.utf8))
        review(text, ContentHash(of: Array(result.text.utf8)), previous: draft)
        state.written = state.content
    }

    private mutating func accept(_ index: Int) {
        state.findings[index].state = .accepted
        state.findings[index].isTicked = false
        state.findings[index].note = nil
        state.findings[index].applied = nil
        accepted.append(state.findings[index].suggestion.id)
        answered.insert(state.findings[index].key)
    }

    private mutating func leave(_ index: Int, _ note: String) {
        state.findings[index].isTicked = false
        state.findings[index].state = .orphaned
        state.findings[index].note = note
    }

    // MARK: Findings

    /// Reviews a text and carries the known findings over to it.
    ///
    /// - Parameters:
    ///   - previous: the text that the known ranges refer to, if available.
    ///   - models: nil if no model was asked about this text.
    private mutating func review(
        _ draft: DraftText, _ content: ContentHash, previous: DraftText? = nil, models: ModelFindings? = nil
    ) {
        let muted = RuleAnswers.mutedRules(state.ruleAnswers)
        let resolver = AnchorResolver(draft, previous: previous)
        let advice = state.advice(models, by: resolver, settings.passes) + added
        let before = new.count
        var seen: Set<String> = []
        let gate = advice.isEmpty ? nil : ProposalGate(draft)
        let suggestions = (pass(draft, muted) + advice.map { gate?.admitted($0) ?? $0 })
            .filter { seen.insert($0.id).inserted }
        let isAlone = advice.isEmpty && !suggestions.contains { $0.advisorID == Suggestion.styles }
        let entries = state.merged(suggestions, isAlone: isAlone, draft)
        let known = KnownFindings(state.findings)
        let moved = known.moved(suggestions, by: resolver)
        let answeredAlong = known.answeredAlong()
        var found: Set<Int> = []
        var used = Set(state.findings.map(\.key))
        let justAccepted = newText == nil ? [] : Set(accepted)
        for entry in entries {
            let suggestion = entry.suggestion
            guard let index = known.places[suggestion.id] ?? moved[suggestion.id] else {
                if let answered = answeredAlong[suggestion.id] ?? known.skipped(entry) {
                    found.insert(answered)
                    continue
                }
                let key = KnownFindings.key(for: suggestion.id, among: used)
                used.insert(key)
                state.findings.append(ReviewFinding(key: key, suggestion: suggestion, others: entry.others))
                found.insert(state.findings.count - 1)
                new.append(suggestion.id)
                continue
            }
            found.insert(index)
            // Accepted just now and found again: the same words also occur elsewhere in the same context.
            let isAnotherPlace = justAccepted.contains(suggestion.id) && state.findings[index].proposal != nil
            if isAnotherPlace {
                state.findings[index] = ReviewFinding(
                    key: state.findings[index].key, suggestion: suggestion, others: entry.others)
            } else {
                update(index, entry)
            }
        }
        // A finding that is gone was fixed by hand and needs no answer. A ticked one is kept until it is answered.
        state.findings = state.findings.enumerated().filter { index, finding in
            finding.state != .pending || finding.isTicked || finding.isUndone || found.contains(index)
        }.map(\.element)
        state.notices = notices.sentences
        if !muted.isEmpty {
            state.notices.append(
                "Omitted from now on, because their findings are always skipped here: "
                    + muted.sorted().map { "`\($0)`" }.joined(separator: ", ") + ".")
        }
        for index in state.findings.indices { state.findings[index].keepPlaces(by: resolver) }
        state.discussions = SuggestionMerger.threads(entries, of: draft).map(ReviewDiscussion.init)
        state.count(models, settings, new: new.count - before)
        merge(models, draft, content)
        state.unreadable = nil
        state.content = content
        state.settings = settings.hash
    }

    /// Stores remarks about the text as a whole, and drops those of passes that are no longer requested.
    private mutating func merge(_ models: ModelFindings?, _ draft: DraftText, _ content: ContentHash) {
        if !settings.passes.contains(.advisors) { state.read = nil }
        guard settings.asksOthers else {
            (state.reading, state.council, state.answers) = (nil, nil, [])
            return
        }
        if !settings.passes.contains(.council) { state.council = nil }
        guard let models else { return }
        state.spend(models.costs)
        state.reading = models.reading
        state.answers = models.parts == nil ? models.answers : Set(state.answers + models.answers).sorted()
        if models.suggestions != nil, !models.isIncomplete {
            state.read = ReadParagraphs(of: draft, settings: settings.hash)
        }
        if let report = models.council { state.council = ReviewCouncil(content: content, report: report) }
    }

    private mutating func update(_ index: Int, _ entry: MergedSuggestion) {
        var suggestion = entry.suggestion
        if state.findings[index].keepsWording {
            let shown = state.findings[index].suggestion
            suggestion.suggestedText = shown.suggestedText
            suggestion.hasReplacement = shown.hasReplacement
            suggestion.reasoning = shown.reasoning
        } else {
            state.findings[index].others = entry.others
        }
        state.findings[index].suggestion = suggestion
        if rewritten.remove(state.findings[index].key) != nil {
            state.findings[index].reopen()
            undone += 1
        }
        if state.findings[index].isOpen { state.findings[index].state = .pending }
    }
}
