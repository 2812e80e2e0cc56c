import Glibc
import Platform
import Rules
import TKCore

/// A change of a draft's review by a program beside the agent. State, sidecar and outputs are read and written here
/// alone, under the lock that the agent takes as well; the draft is not written.
struct ReviewChange {
    let files: ReviewFiles
    let state: ReviewState
    /// Hash of the state's file; nil if there is none.
    let hash: ContentHash?
    /// Hash of the sidecar's file; nil if there is none.
    private let shown: ContentHash?
    private let held: HeldFiles
    private let unsaved: UnsavedChanges

    /// The review as it is, for a program that writes nothing. Blocks.
    init(of files: ReviewFiles, _ held: HeldFiles, _ unsaved: UnsavedChanges) throws {
        (self.files, self.held, self.unsaved) = (files, held, unsaved)
        (state, hash) = try ReviewDraft.state(files, held)
        shown = try ReviewDraft.bytes(files.sidecar, held).map { ContentHash(of: $0) }
    }

    /// Runs `body` with the review as it is, while nobody else changes it. Blocks, for a second at most until then.
    ///
    /// - Throws: `Fault(.transient)` if another process changes a review in the folder.
    static func make<R>(
        of files: ReviewFiles, _ held: HeldFiles, _ unsaved: UnsavedChanges, _ body: (ReviewChange) throws -> R
    ) throws -> R {
        try ReviewWriting(alone: files.draft.parent, held).alone(files) {
            try body(ReviewChange(of: files, held, unsaved))
        }
    }

    /// Whether the sidecar is as it was last written.
    var isUntouched: Bool { shown == state.rendered }

    /// The sidecar's text; nil if there is none. Blocks.
    ///
    /// - Throws: `Fault` if another file has its name.
    func sidecar() throws -> DraftText? {
        let text = try ReviewDraft.text(files.sidecar, held)
        try ReviewDraft.checkOwner(of: text, files, state, held)
        return text
    }

    /// What the writer asks with `[?]`, whether a review has read that already or not, by the findings' keys. Blocks.
    func asked() throws -> [String: String] {
        // Without a sidecar of its own, somebody else's file may have that name.
        guard state.rendered != nil, let text = try ReviewDraft.text(files.sidecar, held) else {
            return state.findings.reduce(into: [:]) { $0[$1.key] = $1.isOpen ? $1.asked : nil }
        }
        return SidecarQuestions.asked(in: text.string, of: state)
    }

    /// What keeps the sidecar from being rewritten; nil if nothing does. Blocks.
    func sign() throws -> UnsavedSign? { try unsaved.sign(on: files.sidecar, held, written: state.rendered) }

    /// Writes what others have added, all of it or nothing. Blocks.
    ///
    /// - Throws: `Fault`; `.transient` if an editor or the writer's answers are in the way.
    func add(_ round: ReviewRound) throws {
        guard !round.isUrgent else {
            throw Fault(
                .transient, "\(files.sidecar) has answers that are still to be carried out (`[x!]`); try again then",
                path: files.sidecar)
        }
        if let sign = try sign() {
            throw Fault(.transient, "\(sign.tells(of: files.sidecar)); try again \(sign.end)", path: files.sidecar)
        }
        try write(round)
    }

    /// Writes what a round has come to, and the sidecar even if an interrupted write has left it as it was. While an
    /// editor has that open, only the state is written, and the next round catches up. Blocks.
    func write(_ round: ReviewRound, makesSidecar: Bool = true) throws {
        // No round of these programs changes the draft.
        let intent = try ReviewDraft.intent(
            round, DraftText(""), files, (state, hash), try sidecar(), root: files.draft.parent, held,
            waits: ReviewDraft.Waits(unsaved), makesSidecar: makesSidecar, isStale: !isUntouched)
        for file in [intent.state, intent.sidecar] {
            // The agent would not read it.
            guard let file, try file.text.text().utf8.count > UnreadableDraft.longest else { continue }
            throw Fault(
                .refused, "\(file.path.nameText) would be longer than \(UnreadableDraft.longest >> 20) MiB; add less",
                path: file.path)
        }
        if !intent.isNothing { try write(intent) }
    }

    /// Writes a state with the findings that there are. A sidecar that somebody has open or has written into is left to
    /// the next round. Blocks.
    ///
    /// - Returns: the state as written.
    func write(_ state: ReviewState) throws -> ReviewState {
        var state = state
        var sidecarWrite: ReviewWrite?
        let text = ReviewSidecar.text(state)
        if let shown {
            if isUntouched, try sign() == nil, try isFree() {
                (state.shown, state.heard, state.rendered) = (nil, nil, ContentHash(of: Array(text.utf8)))
                sidecarWrite = ReviewWrite(path: files.sidecar, base: shown, text: text)
            } else if state.rendered != nil {
                state.shown = self.state.lastSidecar
            }
        }
        let write = ReviewWrite(path: files.state, base: hash, text: try state.json())
        try self.write(
            ReviewDraft.Intent(
                root: files.draft.parent, draft: files.draft, edit: nil, kept: nil, state: write, sidecar: sidecarWrite,
                answered: [], summary: "", values: [:]))
        return state
    }

    /// Whether no program has the sidecar open at this moment.
    private func isFree() throws -> Bool {
        Lease.ignoreBreakSignal()
        guard case .held(let file) = LeasedFile.acquire(try held.open(files.sidecar, O_RDWR)) else { return false }
        file.release()
        return true
    }

    private func write(_ intent: ReviewDraft.Intent) throws {
        guard let status = try held.status(files.draft) else {
            throw Fault(.superseded, "\(files.draft) is gone", path: files.draft)
        }
        _ = try ReviewDraft.write(intent, status, ReviewWriting(alone: files.draft.parent, held))
    }
}
