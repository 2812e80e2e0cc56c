import Platform
import Rules
import TKCore

/// The review of a removed draft: its sidecar is removed too if it is unmodified. The answers are kept in case the
/// draft comes back.
extension ReviewDraft {
    static func decideRemoval(of reference: FileReference, _ held: HeldFiles) throws -> Intent {
        let (file, root) = (reference.absolute, reference.root)
        if let name = reference.renamedTo, try held.status(root.appending(name)) != nil {
            return nothing(file, root, "the review of \(file.nameText) follows to \(name)")
        }
        guard let files = try reviewed(file, held), files.draft == file, try held.status(file) == nil else {
            return nothing(file, root, "there is nothing to remove for \(file.nameText)")
        }
        let known = try state(files, held)
        guard known.hash != nil, let sidecar = try text(files.sidecar, held) else {
            return nothing(file, root, "\(file.nameText) is gone, and there is no review of it")
        }
        guard known.state.rendered == ContentHash(of: Array(sidecar.string.utf8)) else {
            return nothing(
                file, root,
                "\(file.nameText) is gone; \(files.sidecar.nameText) is kept, because somebody has written to it")
        }
        var state = known.state
        (state.rendered, state.content) = (nil, nil)
        return Intent(
            root: root, draft: file, edit: nil, kept: nil,
            state: ReviewWrite(path: files.state, base: known.hash, text: try state.json()), sidecar: nil, answered: [],
            summary: "put \(files.sidecar.nameText) away: its draft is gone", values: [:],
            gone: ReviewWrite(path: files.sidecar, base: nil, text: sidecar.string, isForUndo: true))
    }

    static func nothing(_ file: BytePath, _ root: BytePath, _ summary: String) -> Intent {
        Intent(
            root: root, draft: file, edit: nil, kept: nil, state: nil, sidecar: nil, answered: [], summary: summary,
            values: [:])
    }

    static func putAway(_ sidecar: ReviewWrite, _ intent: Intent, _ writing: ReviewWriting) throws -> Receipt {
        guard try writing.held.status(intent.draft) == nil else {
            throw Fault(.superseded, "\(intent.draft) exists again", path: intent.draft)
        }
        if let found = try writing.hash(sidecar.path) {
            guard found == sidecar.result else { throw ReviewWriting.changed(sidecar.path) }
            try writing.held.remove(sidecar.path)
        }
        if let state = intent.state { try writing.putOwn(state, mode: 0o600) }
        try ReviewOutputs.remove(intent.draft, writing)
        return Receipt(intent.summary, values: intent.values, effects: [.removed(sidecar.path)])
    }

    static func bringBack(_ sidecar: ReviewWrite, _ intent: Intent, _ writing: ReviewWriting) throws -> Receipt {
        let files = ReviewFiles(draft: intent.draft)
        try writing.putSidecar(sidecar, mode: 0o600)
        let known = try state(files, writing.held)
        var state = known.state
        state.rendered = sidecar.result
        try writing.putOwn(ReviewWrite(path: files.state, base: known.hash, text: try state.json()), mode: 0o600)
        let effect = try FileEffect.left(at: sidecar.path, base: nil, sidecar.result, in: writing.held)
        return Receipt(
            "brought \(sidecar.path.nameText) back",
            effects: effect.map { [$0] } ?? [])
    }
}
