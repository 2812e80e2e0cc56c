import NoteActions
import OwnFiles
import Platform
import TKCore

/// The review beside a draft, as the rule `review` and other reviewers have left it.
struct DraftReview {
    let state: ReviewState
    /// The same with everything that the file holds.
    private let json: JSON

    /// Blocks.
    ///
    /// - Returns: nil if there is none.
    init?(_ draft: BytePath) throws {
        let file = ReviewFiles(draft: draft).state
        guard try FileStatus.of(file)?.kind == .file else { return nil }
        let bytes = try Descriptor(file).readAll(limit: 64 << 20)
        state = try ReviewState(json: bytes, at: file)
        json = try JSON(parsing: bytes)
    }

    var open: [ReviewFinding] { state.findings.filter(\.isOpen) }

    /// What has become of the findings, and where the text is on its way.
    var summary: [(String, JSON)] {
        var members: [(String, JSON)] = [
            ("open", .integer(open.count)), ("taken", .integer(state.count(.accepted))),
            ("skipped", .integer(state.count(.skipped))),
        ]
        if let journey = json["journey"], let stage = journey["stage"]?.text {
            members.append(("stage", .string(stage)))
            if stage == "draft" { members.append(("draft_stage", .optional(journey["draftStage"]?.text))) }
            members.append(("cycle", .optional(journey["cycle"]?.integer)))
        }
        return members
    }

    /// What the writer asks about a finding (`[?]`), and what was answered.
    private func questions(_ key: String) -> JSON {
        let finding = json["findings"]?.elements.first { $0["key"]?.text == key }
        let answered = (finding?["exchanges"]?.elements ?? []).map { exchange -> JSON in
            [
                "question": .optional(exchange["question"]?.text), "by": .optional(exchange["by"]?.text),
                "answer": .optional(exchange["reply"]?.text),
            ]
        }
        let open = finding?["asked"]?.text.map { ["question": .string($0)] as JSON }
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
            "questions": review?.questions(finding.key) ?? [],
        ]
    }

    private static func maker(_ suggestion: Suggestion) -> String {
        suggestion.rule.map { "\(suggestion.advisorID)/\($0)" } ?? suggestion.advisorID
    }
}
