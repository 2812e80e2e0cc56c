import Platform
import Rules
import TKCore

/// What an editor that has the draft open has to be asked: to take answers from the sidecar, and what was answered in
/// its buffer.
struct ReviewEditing: Codable, Sendable, Equatable {
    /// The draft or its sidecar, as the event names it.
    let file: BytePath
    let request: EditorRequest

    /// nil if there is nothing to ask: no answer waits, and this text of the draft has been reviewed.
    init?(
        _ file: BytePath, _ draft: BytePath, _ content: ContentHash, _ round: ReviewRound, _ known: ReviewState
    ) {
        guard round.waiting > 0 || known.content != content else { return nil }
        self.file = file
        let accepted = round.state.findings.filter { $0.isOpen && $0.isTicked && $0.proposal != nil }
        request = EditorRequest(
            draft: draft, content: content,
            accepted: accepted.map { EditorRequest.Answer(key: $0.key, words: $0.edited) },
            skipped: round.state.findings.filter { $0.state == .skipped && round.answered.contains($0.key) }.map(\.key))
    }
}

/// The part of a review that an editor does. Nothing is durable before its reply: if the agent is killed, the editor is
/// asked again, and finds the words in its buffer.
extension ReviewDraft {
    func plan(_ intent: Intent, _ editing: ReviewEditing, _ context: StepContext) async throws -> Intent {
        let (settings, services) = (settings, services)
        let files = services.files
        if let kept = try await files.run({ try Self.keptPlan(intent, context, services) }), kept.waits == nil {
            return kept
        }
        guard let editor = try await files.run({ services.reviews.openDrafts.editor(of: intent.draft) }) else {
            throw ReviewWriting.changed(intent.draft)
        }
        let reply = try await editor.editor.ask(editing.request)
        return try await files.run {
            let plan = try Self.decide(
                editing.file, root: intent.root, settings, services, context.files, reply: reply,
                saved: intent.saved ?? "")
            // The settings have changed.
            guard !plan.isPlannedLater else { throw ReviewWriting.changed(intent.draft) }
            if plan.isNothing, let wait = Self.wait(of: plan, job: context.jobID, services) { throw wait.fault }
            try services.reviews.plans.write(plan, try Self.key(intent, context))
            return plan
        }
    }

    /// What was answered in an editor that has the draft open; nil if none has.
    ///
    /// - Parameter request: what it is asked to take.
    func answeredInEditor(_ draft: BytePath, _ request: EditorRequest) async throws -> EditorReply? {
        let services = services
        guard let editor = try await services.files.run({ services.reviews.openDrafts.editor(of: draft) }) else {
            return nil
        }
        var request = request
        request.draft = editor.path
        return try await editor.editor.ask(request)
    }
}

extension ReviewDraft.Intent {
    /// Whether the plan is made from what somebody has to be asked.
    var isPlannedLater: Bool { question != nil || editing != nil || moved != nil }

    init(asking editing: ReviewEditing, _ draft: BytePath, root: BytePath, saved: String) {
        self.init(
            root: root, draft: draft, edit: nil, kept: nil, state: nil, sidecar: nil, answered: [],
            summary: "has the editor that has \(draft.nameText) open make the changes", values: [:], editing: editing,
            saved: saved)
    }
}
