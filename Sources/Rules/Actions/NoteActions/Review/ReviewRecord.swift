import Platform
import TKCore

/// Writes a draft's review, state and sidecar, for a program that has the draft open and no agent to leave that to. The
/// draft itself is not written. All calls block.
package struct ReviewRecord: Sendable {
    private let files: ReviewFiles
    private let unsaved: UnsavedChanges
    private let settings: ReviewSettings
    private let pass: ReviewRound.Pass

    /// - Parameters:
    ///   - unsaved: what tells whether the sidecar may be rewritten.
    ///   - pass: as the program reviews the draft.
    package init(
        of draft: BytePath, _ unsaved: UnsavedChanges, settings: ReviewSettings, pass: @escaping ReviewRound.Pass
    ) {
        files = ReviewFiles(draft: draft)
        (self.unsaved, self.settings, self.pass) = (unsaved, settings, pass)
    }

    /// Records what was answered. A draft that has no review gets a state once something was answered, and a sidecar
    /// only from somebody else. While an editor has the sidecar open with unsaved changes, it is left to the next call.
    ///
    /// - Parameters:
    ///   - mine: the state that the program has come to, about the text in its buffer.
    ///   - stored: hash of the state's file that this goes back to; nil if there was none.
    ///   - reply: the same answers for another text than the buffer's.
    /// - Returns: answers in the sidecar that are to go into the buffer; nil if there are none.
    /// - Throws: `Fault`; `.transient` if somebody has a file open or has changed it in the meantime.
    package func write(_ mine: ReviewState, stored: ContentHash?, _ reply: EditorReply) throws -> EditorRequest? {
        let held = HeldFiles(below: [files.draft.parent])
        guard let draft = try ReviewDraft.text(files.draft, held) else { return nil }
        let content = ContentHash(of: Array(draft.string.utf8))
        let isNews = mine.content == content && mine.findings.contains { !$0.isOpen }
        // Nothing is created for a draft without a review and answers.
        guard try isNews || held.status(files.state) != nil else { return nil }
        return try ReviewChange.make(of: files, held, unsaved) { review in
            let known = review.state
            let isMine = mine.content == content && review.hash == stored
            guard review.hash != nil || isMine && isNews else { return nil }
            let round = ReviewRound(
                of: draft, known: isMine ? mine : known, sidecar: try review.sidecar()?.string,
                answers: isMine ? Self.undone(mine, known) : reply.answers(about: content), settings: settings,
                mayWrite: false, isInEditor: true, pass: pass)
            try review.write(round, makesSidecar: known.rendered != nil)
            return ReviewEditing(files.sidecar, files.draft, content, round, round.state)?.request
        }
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
