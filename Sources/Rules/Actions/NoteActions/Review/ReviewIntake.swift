import Platform
import TKCore

/// Adds the findings of other reviewers, and their answers, to a draft's review: into the state and the sidecar that
/// the action `review` keeps, through the same gate and under the same lock. Works with and without a running agent,
/// which reads the state before each review. Everything here blocks.
package enum ReviewIntake {
    package struct Outcome: Sendable {
        /// The findings that are new, or that one more reviewer makes now.
        package var added: [ReviewFinding] = []
        /// The number of those that were known: open already, or skipped before.
        package var known = 0
        /// Those without a place in the draft.
        package var unplaced: [UnplacedFinding] = []
        /// Absolute.
        package var sidecar: BytePath
    }

    /// Adds findings to the review of a draft, which is not changed.
    ///
    /// - Parameters:
    ///   - draft: absolute, or relative to the working folder.
    ///   - author: who has made them; nil for the author that each names.
    ///   - isDryRun: whether to write nothing.
    ///   - unsaved: what tells whether the sidecar may be rewritten.
    ///   - read: the findings about this version of the draft.
    /// - Throws: `Fault`; `.transient` if an editor or another process is in the way. Nothing has changed then.
    package static func add(
        to draft: BytePath, author: String? = nil, isDryRun: Bool = false,
        unsaved: UnsavedChanges = UnsavedChanges(), _ read: (DraftText) throws -> [ReportedFinding]
    ) throws -> Outcome {
        let reviewed = try ReviewedFiles(draft, unsaved)
        let text = try reviewed.draft()
        let (placed, unplaced) = FindingPlacer(text, name: reviewed.files.draft).place(
            try read(text), author: author, origin: .added)
        let writes = !isDryRun && !placed.isEmpty
        var outcome =
            writes
            ? try reviewed.change { try add(placed, to: $0, of: text, writes: true) }
            : try add(placed, to: reviewed.review(), of: text, writes: false)
        outcome.unplaced = unplaced
        return outcome
    }

    /// - Parameter findings: anchored by their quotes.
    package static func add(
        _ findings: [ReportedFinding], to draft: BytePath, author: String? = nil, isDryRun: Bool = false,
        unsaved: UnsavedChanges = UnsavedChanges()
    ) throws -> Outcome {
        try add(to: draft, author: author, isDryRun: isDryRun, unsaved: unsaved) { _ in findings }
    }

    /// Answers what the writer asks about a finding (`[?]`), as the finding's advisor would: the answer is shown below
    /// the finding, with its new wording if there is one, and the mark is empty again.
    ///
    /// - Parameters:
    ///   - key: the finding's.
    ///   - draft: absolute, or relative to the working folder.
    ///   - wording: other words for the finding's place; nil for none.
    /// - Returns: the finding, and whether it has the new wording, which would else change more than words.
    /// - Throws: `Fault`; `.refused` if nothing is asked about it, `.transient` as in ``add(_:to:author:isDryRun:)``.
    package static func answer(
        _ key: String, of draft: BytePath, by author: String, _ reply: String, wording: String? = nil
    ) throws -> (finding: ReviewFinding, isReworded: Bool) {
        let reviewed = try ReviewedFiles(draft)
        let text = try reviewed.draft()
        let unknown = Fault(.refused, "the draft's review has no open finding \(Printable.line(key)); read it again")
        guard try reviewed.review().hash != nil else { throw unknown }
        return try reviewed.change { review in
            let sidecar = try review.sidecar()
            guard let asked = review.state.findings.first(where: { $0.key == key && $0.isOpen }) else {
                throw unknown
            }
            guard try asked.exchanges != nil || review.asked()[key] != nil else {
                throw Fault(.refused, "the writer asks nothing about \(key); propose or comment instead")
            }
            let answer = AnotherProposal.answer(
                reply, wording: wording, to: asked.suggestion, in: text, refused: asked.refused,
                by: FindingPlacer.name(author))
            let round = ReviewRound(
                adding: [], answering: GivenProposals([key: answer]), to: review.state, of: text,
                sidecar: sidecar?.string)
            guard let answered = round.state.findings.first(where: { $0.key == key }), answered.isOpen,
                answered.exchanges != asked.exchanges
            else {
                throw Fault(
                    .refused, "the writer has answered \(key) or changed its words meanwhile; read the draft again")
            }
            try review.add(round)
            return (answered, answer.finding != nil)
        }
    }

    /// A draft's review as it is stored, with what its sidecar asks, by the findings' keys; nil if there is none.
    package static func stored(_ draft: BytePath) throws -> (state: ReviewState, asked: [String: String])? {
        let review = try ReviewedFiles(draft).review()
        return review.hash == nil ? nil : (review.state, try review.asked())
    }

    /// A draft's open findings, as of its last review; empty if there was none.
    package static func open(_ draft: BytePath) throws -> [ReviewFinding] {
        try stored(draft)?.state.findings.filter(\.isOpen) ?? []
    }

    private static func add(
        _ placed: [Suggestion], to review: ReviewChange, of draft: DraftText, writes: Bool
    ) throws -> Outcome {
        let known = review.state
        let settled = settled(known, in: draft)
        let fresh = placed.filter { suggestion in
            !settled.contains { comesToTheSame($0, suggestion, draft) }
        }
        let round = ReviewRound(adding: fresh, to: known, of: draft, sidecar: try review.sidecar()?.string)
        let before = Set(known.findings.flatMap(\.all).map(\.id))
        let new = Set(fresh.map(\.id)).subtracting(before)
        var outcome = Outcome(sidecar: review.files.sidecar)
        outcome.added = round.state.findings.filter { $0.isOpen && $0.all.contains { new.contains($0.id) } }
        outcome.known = placed.count - new.count
        if writes, !new.isEmpty || !review.isUntouched { try review.add(round) }
        return outcome
    }

    /// The open and the skipped findings at their places in this text.
    private static func settled(_ state: ReviewState, in draft: DraftText) -> [(Suggestion, isSkipped: Bool)] {
        let resolver = AnchorResolver(draft)
        return state.findings.filter { $0.isOpen || $0.state == .skipped }.flatMap { finding in
            finding.all.compactMap { suggestion -> (Suggestion, isSkipped: Bool)? in
                guard let range = resolver.certainRange(of: suggestion.anchor) else { return nil }
                var suggestion = suggestion
                suggestion.anchor = draft.anchor(of: range)
                return (suggestion, finding.state == .skipped)
            }
        }
    }

    /// Whether the same author has said the same already, or somebody has skipped a proposal with the same result.
    private static func comesToTheSame(
        _ known: (Suggestion, isSkipped: Bool), _ other: Suggestion, _ draft: DraftText
    ) -> Bool {
        let (one, isSkipped) = known
        if one.id == other.id { return true }
        guard isSkipped || one.advisorID == other.advisorID, one.hasReplacement == other.hasReplacement else {
            return false
        }
        guard one.hasReplacement else {
            return one.advisorID == other.advisorID && one.anchor.range == other.anchor.range
                && one.reasoning == other.reasoning
        }
        return one.anchor.range.overlaps(other.anchor.range)
            && SuggestionMerger.leavesTheSame(one, other, draft)
    }
}
