import Glibc
import Platform
import TKCore

/// The files of a draft's review, for a program beside the agent. Everything blocks.
struct ReviewedFiles {
    let files: ReviewFiles
    private let held: HeldFiles
    private let unsaved: UnsavedChanges

    /// - Parameter draft: absolute, or relative to the working folder.
    /// - Throws: `Fault` if it is gone, or a sidecar.
    init(_ draft: BytePath, _ unsaved: UnsavedChanges = UnsavedChanges()) throws {
        self.unsaved = unsaved
        guard let path = draft.real else { throw Fault.system("open", draft, errno: ENOENT) }
        held = HeldFiles(own: path.parent)
        guard let files = try ReviewDraft.reviewed(path, held), files.draft == path else {
            throw Fault(.refused, "\(path) is the sidecar of a review; name its draft", path: path)
        }
        self.files = files
    }

    /// - Throws: `Fault` if the draft is not text.
    func draft() throws -> DraftText {
        guard let text = try ReviewDraft.text(files.draft, held) else {
            throw Fault(.superseded, "\(files.draft) is gone", path: files.draft)
        }
        return text
    }

    /// What is stored.
    func review() throws -> ReviewChange { try ReviewChange(of: files, held, unsaved) }

    /// As ``ReviewChange/make(of:_:_:_:)``.
    func change<R>(_ body: (ReviewChange) throws -> R) throws -> R {
        try ReviewChange.make(of: files, held, unsaved, body)
    }
}
