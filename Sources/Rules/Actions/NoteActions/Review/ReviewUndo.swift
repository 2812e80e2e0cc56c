import Platform
import Rules
import TKCore

/// Undoes a review: its answers are open again, and the draft is as it was before.
extension ReviewDraft {
    static func revert(
        _ intent: Intent, _ writing: ReviewWriting, _ wanted: ReviewSettings, _ context: StepContext,
        _ services: ReviewServices
    ) throws -> Receipt {
        if let gone = intent.gone { return try bringBack(gone, intent, writing) }
        let files = ReviewFiles(draft: intent.draft)
        let parts = try parts(context, services)
        let edits = parts.edits + [intent.edit].compactMap(\.self)
        let answered = parts.answered + intent.answered
        if answered.isEmpty, edits.isEmpty {
            return try removeFirst(intent, writing, files, resumes: context.resumesUndo)
        }
        let known = try state(files, writing.held)
        if services.reviews.openDrafts.editor(of: files.draft) != nil {
            throw Fault(.failed, "\(intent.draft) is open in an editor; undo it once it is closed", path: intent.draft)
        }
        let hasTaken = known.state.findings.contains {
            $0.state == .accepted && $0.proposal != nil && answered.contains($0.key)
        }
        if edits.isEmpty, hasTaken {
            throw Fault(
                .failed, "an editor put these words into \(intent.draft); take them back there", path: intent.draft)
        }
        func checkClosed(_ path: BytePath, _ written: ContentHash?) throws {
            guard let sign = try services.reviews.unsaved.sign(on: path, writing.held, written: written) else { return }
            throw Fault(.failed, "\(sign.tells(of: path)); undo it \(sign.end)", path: path)
        }
        let changed = Fault(
            .failed, "\(intent.draft) has been changed since; it was left as it is", path: intent.draft)
        if let edit = edits.last {
            guard try writing.hash(intent.draft) == edit.result else { throw changed }
            try checkClosed(intent.draft, known.state.written)
        }
        try checkClosed(files.sidecar, known.state.rendered)
        guard let draft = try text(intent.draft, writing.held) else {
            throw Fault(.failed, "\(intent.draft) is gone; nothing was changed", path: intent.draft)
        }
        var before = Array(draft.string.utf8)
        for edit in edits.reversed() {
            guard let earlier = try edit.reversed().applied(to: before) else { throw changed }
            before = earlier
        }
        let restored = edits.isEmpty ? draft : DraftText(String(decoding: before, as: UTF8.self), syntax: draft.syntax)
        let (settings, project) = try inForce(
            wanted, files.draft, root: intent.root, known.state.journey, services, writing.held)
        let sidecar = try text(files.sidecar, writing.held)
        try checkOwner(of: sidecar, files, known.state, writing.held)
        let notices = ReviewNotices()
        let round = try ReviewRound(
            reverting: Set(answered), in: known.state, of: restored, sidecar: sidecar?.string,
            settings: settings, notices: notices,
            pass: pass(settings, project, files.draft, services, notices))
        let back = try Self.intent(
            round, restored, files, known, sidecar, root: intent.root, writing.held,
            waits: Waits(services.reviews.unsaved))
        let whole = Intent(
            root: back.root, draft: back.draft,
            edit: edits.isEmpty ? nil : DraftEdit(from: draft.string, to: restored.string), kept: back.kept,
            state: back.state, sidecar: back.sidecar, answered: [],
            summary: "took \(answered.count) answers back, \(files.draft.nameText) is as it was", values: [:])
        try keepUndo(whole, of: intent, context, services)
        let receipt = try carryOut(whole, writing)
        try forgetParts(context, services)
        return receipt
    }

    /// Removes what the first review made if it is unchanged, and restores a sidecar that it overwrote. A later review
    /// has nothing to undo.
    private static func removeFirst(
        _ intent: Intent, _ writing: ReviewWriting, _ files: ReviewFiles, resumes: Bool
    ) throws -> Receipt {
        guard let state = intent.state, state.base == nil else {
            return Receipt("nothing was answered, so nothing was undone")
        }
        func isOurs(_ write: ReviewWrite) throws -> Bool {
            let found = try writing.hash(write.path)
            return found == write.result || resumes && (found == nil || found == write.base)
        }
        guard try isOurs(state) else {
            throw Fault(
                .failed, "the review of \(files.draft.nameText) has continued since; it was left as it is",
                path: state.path)
        }
        var effects: [FileEffect] = []
        if let sidecar = intent.sidecar {
            guard try isOurs(sidecar) else {
                throw Fault(
                    .failed, "\(sidecar.path) has been changed since; it was left as it is", path: sidecar.path)
            }
            if let base = sidecar.base, let before = try bytes(files.kept(base), writing.held),
                ContentHash(of: before) == base
            {
                let text = String(decoding: before, as: UTF8.self)
                try writing.putSidecar(ReviewWrite(path: sidecar.path, base: sidecar.result, text: text), mode: 0o600)
                if let effect = try FileEffect.left(at: sidecar.path, base: sidecar.result, base, in: writing.held) {
                    effects.append(effect)
                }
            } else {
                try writing.held.remove(sidecar.path)
                effects.append(.removed(sidecar.path))
            }
        }
        try writing.held.remove(state.path)
        return Receipt("removed the review of \(files.draft.nameText)", effects: effects)
    }
}
