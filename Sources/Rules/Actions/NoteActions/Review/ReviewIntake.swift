import Glibc
import Platform
import TKCore

/// Adds the findings of other reviewers to a draft's review: into the state and the sidecar that the action `review`
/// keeps, through the same gate and under the same lock. Works with and without a running agent, which reads the state
/// before each review. Everything here blocks.
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
    ///   - read: the findings about this version of the draft.
    /// - Throws: `Fault`; `.transient` if an editor or another process is in the way. Nothing has changed then.
    package static func add(
        to draft: BytePath, author: String? = nil, isDryRun: Bool = false,
        _ read: (DraftText) throws -> [ReportedFinding]
    ) throws -> Outcome {
        guard let path = draft.real else { throw Fault.system("open", draft, errno: ENOENT) }
        let held = HeldFiles(own: path.parent)
        let files = try files(of: path, held)
        guard let text = try ReviewDraft.text(path, held), let status = try held.status(path) else {
            throw Fault(.superseded, "\(draft) is gone", path: path)
        }
        let (placed, unplaced) = FindingPlacer(text, name: path).place(try read(text), author: author, origin: .added)
        func added(_ writing: ReviewWriting?) throws -> Outcome {
            var outcome = try add(placed, to: files, of: text, status, held, writing)
            outcome.unplaced = unplaced
            return outcome
        }
        guard !isDryRun, !placed.isEmpty else { return try added(nil) }
        let writing = ReviewWriting(alone: path.parent, held)
        return try writing.alone(files) { try added(writing) }
    }

    /// - Parameter findings: anchored by their quotes.
    package static func add(
        _ findings: [ReportedFinding], to draft: BytePath, author: String? = nil, isDryRun: Bool = false
    ) throws -> Outcome {
        try add(to: draft, author: author, isDryRun: isDryRun) { _ in findings }
    }

    /// A draft's open findings, as of its last review; empty if there was none.
    package static func open(_ draft: BytePath) throws -> [ReviewFinding] {
        guard let path = draft.real else { throw Fault.system("open", draft, errno: ENOENT) }
        let held = HeldFiles(own: path.parent)
        return try ReviewDraft.state(files(of: path, held), held).state.findings.filter(\.isOpen)
    }

    private static func files(of path: BytePath, _ held: HeldFiles) throws -> ReviewFiles {
        guard let files = try ReviewDraft.reviewed(path, held), files.draft == path else {
            throw Fault(.refused, "\(path) is the sidecar of a review; name its draft", path: path)
        }
        return files
    }

    /// - Parameter writing: nil to write nothing.
    private static func add(
        _ placed: [Suggestion], to files: ReviewFiles, of draft: DraftText, _ status: FileStatus, _ held: HeldFiles,
        _ writing: ReviewWriting?
    ) throws -> Outcome {
        var known = try ReviewDraft.state(files, held)
        let sidecar = try ReviewDraft.text(files.sidecar, held)
        try ReviewDraft.checkOwner(of: sidecar, files, known.state, held)
        let settled = settled(known.state, in: draft)
        let fresh = placed.filter { suggestion in
            !settled.contains { comesToTheSame($0, suggestion, draft) }
        }
        let round = ReviewRound(adding: fresh, to: known.state, of: draft, sidecar: sidecar?.string)
        let before = Set(known.state.findings.flatMap(\.all).map(\.id))
        let new = Set(fresh.map(\.id)).subtracting(before)
        var outcome = Outcome(sidecar: files.sidecar)
        outcome.added = round.state.findings.filter { $0.isOpen && $0.all.contains { new.contains($0.id) } }
        outcome.known = placed.count - new.count
        let shown = sidecar.map { ContentHash(of: Array($0.string.utf8)) }
        guard let writing, !new.isEmpty || shown != known.state.rendered else { return outcome }
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
        // Writes the sidecar even if an interrupted addition has written the same state.
        if shown != known.state.rendered { known.state.rendered = nil }
        let intent = try ReviewDraft.intent(
            round, draft, files, known, sidecar, root: files.draft.parent, held, waits: .init())
        _ = try ReviewDraft.write(intent, status, writing)
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
