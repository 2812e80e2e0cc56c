import Glibc
import Platform
import Rules
import TKCore

/// A draft's journey in the state of its review, for programs beside the agent. Every call blocks.
package struct DraftJourney {
    package private(set) var state: ReviewState
    private let files: ReviewFiles
    private let held: HeldFiles
    private let hash: ContentHash?

    /// - Parameter draft: absolute, without links.
    /// - Throws: `Fault` if it is no file, or a sidecar.
    package init(of draft: BytePath) throws {
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
        if !isDryRun { try ReviewWriting(alone: files.draft.parent, held).alone(files) { try write() } }
    }

    private mutating func write() throws {
        let sidecar = try unchangedSidecar()
        defer { sidecar?.file.release() }
        let text = Array(ReviewSidecar.text(state).utf8)
        if sidecar != nil { state.rendered = ContentHash(of: text) }
        guard try ReviewDraft.state(files, held).hash == hash else {
            throw Fault(
                .transient, "a review of \(files.draft.nameText) has just changed its state; try again",
                path: files.state)
        }
        let mode = try held.status(files.draft).map { $0.mode & 0o666 | 0o600 } ?? 0o600
        try held.makeFolders(for: files.state)
        try held.replaceOwn(files.state, with: Array(try state.json().utf8), mode: mode)
        if let sidecar { try sidecar.file.replace(from: 0, sidecar.text, with: text) }
    }

    /// The sidecar under a lease; nil if there is none, or somebody has it open or has written into it.
    private func unchangedSidecar() throws -> (file: LeasedFile, text: [UInt8])? {
        guard let rendered = state.rendered, try held.status(files.sidecar)?.kind == .file,
            try held.editorLock(on: files.sidecar) == nil,
            case .held(let file) = LeasedFile.acquire(try held.open(files.sidecar, O_RDWR))
        else { return nil }
        let text = try file.file.readAll(limit: UnreadableDraft.longest)
        if ContentHash(of: text) == rendered, file.isSure { return (file, text) }
        file.release()
        return nil
    }
}
