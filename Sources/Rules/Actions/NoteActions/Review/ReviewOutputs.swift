import Glibc
import Platform
import TKCore

/// A review's pending findings in formats that editors and CI read, in files beside the state. They are derived from
/// the state and the draft, so no intent holds them. Each draft has its own: steps of several drafts run at the same
/// time, and would overwrite a file of the folder for each other. All calls block.
enum ReviewOutputs {
    /// Writes them after the state. Leaves them alone if the draft has changed since: its next review writes them.
    static func write(_ draft: BytePath, _ writing: ReviewWriting, mode: mode_t) throws {
        let files = ReviewFiles(draft: draft)
        let known = try ReviewDraft.state(files, writing.held).state
        guard known.unreadable == nil else { return try remove(draft, writing) }
        guard let bytes = try ReviewDraft.bytes(draft, writing.held), ContentHash(of: bytes) == known.content else {
            return
        }
        let text = try DraftText(bytes, draft.description, path: draft)
        let pending = known.findings.filter { $0.state == .pending && $0.suggestion.anchor.end <= text.count }
        let findings = pending.map { MergedSuggestion(suggestion: $0.suggestion, others: $0.others) }
        let outputs = ReviewedDraft(name: draft.nameText, draft: text, suggestions: findings).machineFiles
        for (path, text) in [(files.quickfix, outputs.quickfix), (files.sarif, outputs.sarif)] {
            try writing.putOwn(ReviewWrite(path: path, base: writing.hash(path), text: text), mode: mode)
        }
    }

    static func remove(_ draft: BytePath, _ writing: ReviewWriting) throws {
        let files = ReviewFiles(draft: draft)
        for path in [files.quickfix, files.sarif] where try writing.hash(path) != nil {
            try writing.held.remove(path)
        }
    }
}
