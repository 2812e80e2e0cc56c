import Platform
import TKCore

/// Writes a draft's review, state and sidecar, for a program that has the draft open and no agent to leave that to. The
/// draft itself is not written. All calls block.
package struct ReviewRecord: Sendable {
    private let files: ReviewFiles
    private let settings: ReviewSettings
    private let pass: ReviewRound.Pass

    /// - Parameter pass: as the program reviews the draft.
    package init(of draft: BytePath, settings: ReviewSettings, pass: @escaping ReviewRound.Pass) {
        files = ReviewFiles(draft: draft)
        (self.settings, self.pass) = (settings, pass)
    }

    /// Records what was answered. A draft that has no review gets a state once something was answered, and a sidecar
    /// only from somebody else.
    ///
    /// - Parameters:
    ///   - mine: the state that the program has come to, about the text in its buffer.
    ///   - stored: hash of the state's file that this goes back to; nil if there was none.
    ///   - reply: the same answers for another text than the buffer's.
    /// - Returns: answers in the sidecar that are to go into the buffer; nil if there are none.
    /// - Throws: `Fault`; `.transient` if somebody has the sidecar open or has changed a file in the meantime.
    package func write(_ mine: ReviewState, stored: ContentHash?, _ reply: EditorReply) throws -> EditorRequest? {
        let held = HeldFiles(below: [files.draft.parent])
        var known = try ReviewDraft.state(files, held)
        guard let draft = try ReviewDraft.text(files.draft, held) else { return nil }
        let content = ContentHash(of: Array(draft.string.utf8))
        let isMine = mine.content == content && known.hash == stored
        guard known.hash != nil || isMine && mine.findings.contains(where: { !$0.isOpen }) else { return nil }
        let sidecar = try ReviewDraft.text(files.sidecar, held)
        try ReviewDraft.checkOwner(of: sidecar, files, known.state, held)
        let makesSidecar = known.state.rendered != nil
        let round = ReviewRound(
            of: draft, known: isMine ? mine : known.state, sidecar: sidecar?.string,
            answers: isMine ? Self.undone(mine, known.state) : reply.answers(about: content), settings: settings,
            mayWrite: false, isInEditor: true, pass: pass)
        // Writes the sidecar even if an interrupted write has left it as it was.
        let shown = sidecar.map { ContentHash(of: Array($0.string.utf8)) }
        if shown != known.state.rendered { known.state.rendered = nil }
        let whole = try ReviewDraft.intent(
            round, draft, files, known, sidecar, root: files.draft.parent, held, waits: .init(),
            makesSidecar: makesSidecar)
        if whole.sidecar != nil, let lock = try UnsavedChanges.sign(beside: files.sidecar, held) {
            throw Fault(
                .transient, "\(UnsavedSign.file(lock).tells(of: files.sidecar)), so the answer was not put there",
                path: files.sidecar)
        }
        _ = try ReviewDraft.carryOut(whole, ReviewWriting(alone: files.draft.parent, held))
        return ReviewEditing(files.sidecar, files.draft, content, round, round.state)?.request
    }

    /// Ticks whose words the writer has taken out of the buffer again do not count any more.
    private static func undone(_ mine: ReviewState, _ known: ReviewState) -> [String: SidecarAnswers.Answer] {
        let before = Set(known.findings.filter(\.isUndone).map(\.key))
        let now = mine.findings.filter { $0.isUndone && !before.contains($0.key) }
        return Dictionary(
            now.map { ($0.key, SidecarAnswers.Answer(mark: .accept, outcome: .left($0.state, $0.note ?? ""))) }
        ) { first, _ in first }
    }
}
