import NoteActions
import Platform
import TKCore

/// The review beside a draft, as the rule `review` and other reviewers have left it.
struct DraftReview {
    let state: ReviewState
    /// What the writer asks (`[?]`), by the findings' keys; empty for just another proposal.
    private let asked: [String: String]

    /// Blocks.
    ///
    /// - Returns: nil if there is none.
    init?(_ draft: BytePath) throws {
        guard let stored = try ReviewIntake.stored(draft) else { return nil }
        (state, asked) = stored
    }

    var open: [ReviewFinding] { state.findings.filter(\.isOpen) }

    /// What has become of the findings, and where the text is on its way.
    var summary: [(String, JSON)] {
        var members: [(String, JSON)] = [
            ("open", .integer(open.count)), ("taken", .integer(state.count(.accepted))),
            ("skipped", .integer(state.count(.skipped))),
        ]
        if let journey = state.journey {
            members.append(("stage", .string(journey.stage.rawValue)))
            if journey.stage == .draft { members.append(("draft_stage", .optional(journey.draftStage?.rawValue))) }
            members.append(("cycle", .integer(journey.cycle)))
        }
        return members
    }

    /// What the writer asks about a finding, and what was answered.
    private func questions(_ finding: ReviewFinding) -> JSON {
        let answered = (finding.exchanges ?? []).map { exchange -> JSON in
            ["question": .string(exchange.question), "by": .string(exchange.by), "answer": .string(exchange.reply)]
        }
        let open = asked[finding.key].map { ["question": .string($0)] as JSON }
        return .array(answered + [open].compactMap { $0 })
    }

    /// - Parameter review: the one that the finding is in, if it is stored.
    static func json(_ finding: ReviewFinding, in draft: DraftText, _ review: DraftReview? = nil) -> JSON {
        let suggestion = finding.suggestion
        return [
            "id": .string(finding.key), "by": .string(maker(suggestion)),
            "also_by": .strings(finding.others.map(maker)), "type": .string(suggestion.type.rawValue),
            "category": .string(suggestion.category), "priority": .integer(suggestion.priority),
            "line": .integer(draft.line(at: min(max(suggestion.anchor.start, 0), draft.count))),
            "quote": .string(suggestion.originalText), "proposal": .optional(finding.proposal),
            "reason": .string(suggestion.reasoning), "note": .optional(finding.note),
            "questions": review?.questions(finding) ?? [],
        ]
    }

    private static func maker(_ suggestion: Suggestion) -> String {
        suggestion.rule.map { "\(suggestion.advisorID)/\($0)" } ?? suggestion.advisorID
    }
}
