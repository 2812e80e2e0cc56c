import Platform
import TKCore

/// A draft's journey in the state of its review, for programs beside the agent. Every call blocks.
package struct DraftJourney {
    package private(set) var state: ReviewState
    private let files: ReviewFiles
    private let held: HeldFiles
    private let unsaved: UnsavedChanges
    private let hash: ContentHash?

    /// - Parameters:
    ///   - draft: absolute, without links.
    ///   - unsaved: what tells whether the sidecar may be rewritten.
    /// - Throws: `Fault` if it is no file, or a sidecar.
    package init(of draft: BytePath, unsaved: UnsavedChanges = UnsavedChanges()) throws {
        self.unsaved = unsaved
        held = HeldFiles(own: draft.parent)
        guard let status = try held.status(draft) else {
            throw Fault(.usage, "there is no file \(draft)", path: draft)
        }
        guard status.kind == .file else { throw Fault(.usage, "\(draft) is not a file", path: draft) }
        guard try !SidecarMark.begins(held.open(draft)) else {
            throw Fault(.usage, "\(draft) is the sidecar of a review; name the draft", path: draft)
        }
        files = ReviewFiles(draft: draft)
        (state, hash) = try ReviewDraft.state(files, held)
    }

    /// On the canvas, if it was neither reviewed nor started.
    package var journey: JourneyState { state.journey ?? JourneyState() }

    /// Findings without an answer.
    package var open: Int { state.findings.count(where: \.isOpen) }

    /// Moves it one step, stores that, and shows it in the sidecar if that is as the last review left it. Otherwise the
    /// next review does.
    ///
    /// - Parameter isDryRun: whether to write nothing.
    /// - Throws: errors of `step`, and `Fault` if a review has just changed the state; nothing is written then.
    package mutating func move(isDryRun: Bool = false, _ step: (inout JourneyState) throws -> Void) throws {
        var journey = journey
        try step(&journey)
        state.journey = journey
        guard !isDryRun else { return }
        state = try ReviewChange.make(of: files, held, unsaved) { review in
            guard review.hash == hash else {
                throw Fault(
                    .transient, "a review of \(files.draft.nameText) has just changed its state; try again",
                    path: files.state)
            }
            return try review.write(state)
        }
    }
}
