import Glibc
import Platform
import Rules
import TKCore

/// The files of a draft's review, for a program beside the agent. Everything blocks.
struct ReviewedFiles {
    let files: ReviewFiles
    private let held: HeldFiles

    /// - Parameter draft: absolute, or relative to the working folder.
    /// - Throws: `Fault` if it is gone, or a sidecar.
    init(_ draft: BytePath) throws {
        guard let path = draft.real else { throw Fault.system("open", draft, errno: ENOENT) }
        held = HeldFiles(own: path.parent)
        guard let files = try ReviewDraft.reviewed(path, held), files.draft == path else {
            throw Fault(.refused, "\(path) is the sidecar of a review; name its draft", path: path)
        }
        self.files = files
    }

    /// What is known about the draft.
    struct Review {
        /// The hash is that of the state's file; nil without one.
        let known: (state: ReviewState, hash: ContentHash?)
        /// Its text on disk; nil if there is none.
        let sidecar: DraftText?

        /// Hash of ``sidecar``.
        var shown: ContentHash? { sidecar.map { ContentHash(of: Array($0.string.utf8)) } }

        /// What the writer asks with `[?]`, whether a review has read that already or not, by the findings' keys.
        var asked: [String: String] {
            guard let sidecar else {
                return known.state.findings.reduce(into: [:]) { $0[$1.key] = $1.isOpen ? $1.asked : nil }
            }
            return SidecarQuestions.asked(in: sidecar.string, of: known.state)
        }
    }

    /// - Throws: `Fault` if the draft is not text.
    func draft() throws -> DraftText {
        guard let text = try ReviewDraft.text(files.draft, held) else { throw gone }
        return text
    }

    private var gone: Fault { Fault(.superseded, "\(files.draft) is gone", path: files.draft) }

    /// What is stored; somebody else's file in the sidecar's place does not count.
    func stored() throws -> Review {
        let known = try ReviewDraft.state(files, held)
        let isRendered = known.state.rendered != nil
        return Review(known: known, sidecar: isRendered ? try ReviewDraft.text(files.sidecar, held) : nil)
    }

    /// What is stored, to be changed.
    ///
    /// - Throws: `Fault` if somebody else's file is in the sidecar's place.
    func review() throws -> Review {
        let known = try ReviewDraft.state(files, held)
        let sidecar = try ReviewDraft.text(files.sidecar, held)
        try ReviewDraft.checkOwner(of: sidecar, files, known.state, held)
        return Review(known: known, sidecar: sidecar)
    }

    /// Calls `body` while no other process writes a review in this folder.
    ///
    /// - Throws: also `Fault(.transient)` if one does.
    func alone<R>(_ body: (ReviewWriting) throws -> R) throws -> R {
        let writing = ReviewWriting(alone: files.draft.parent, held)
        return try writing.alone(files) { try body(writing) }
    }

    /// Writes state and sidecar. Works in ``alone(_:)``.
    ///
    /// - Throws: `Fault`; `.transient` if an editor or the writer's answers are in the way. Nothing has changed then.
    func write(_ round: ReviewRound, of draft: DraftText, _ review: Review, _ writing: ReviewWriting) throws {
        guard let status = try held.status(files.draft) else { throw gone }
        guard !round.isUrgent else {
            throw Fault(
                .transient, "\(files.sidecar) has answers that are still to be carried out (`[x!]`); try again then",
                path: files.sidecar)
        }
        if let lock = try UnsavedChanges.sign(beside: files.sidecar, held) {
            throw Fault(
                .transient, "\(UnsavedSign.file(lock).tells(of: files.sidecar)); try again once that is saved",
                path: files.sidecar)
        }
        var known = review.known
        // Writes the sidecar even if an interrupted addition has written the same state.
        if review.shown != known.state.rendered { known.state.rendered = nil }
        let intent = try ReviewDraft.intent(
            round, draft, files, known, review.sidecar, root: files.draft.parent, held, waits: .init())
        for file in [intent.state, intent.sidecar] {
            // The agent would not read it.
            guard let file, try file.text.text().utf8.count > UnreadableDraft.longest else { continue }
            throw Fault(
                .refused, "\(file.path.nameText) would be longer than \(UnreadableDraft.longest >> 20) MiB; add less",
                path: file.path)
        }
        _ = try ReviewDraft.write(intent, status, writing)
    }
}
