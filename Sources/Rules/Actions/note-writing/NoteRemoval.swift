import Ledger
import Platform
import Rules

extension NoteWriter {
    /// Removes a block whose text nobody has changed.
    ///
    /// - Parameter resumes: whether this was begun before and cut off; a block that is gone has been removed then.
    /// - Throws: `Fault(.failed)` where the block is gone or was edited; `.transient` where the note is open.
    package func remove(_ request: NoteRequest, token: String, resumes: Bool = false) async throws {
        let note = request.note
        if try await !journal.ledger.read({ try $0.openNoteWrites(note) }).isEmpty {
            _ = try await enqueue(.ending, on: note)
        }
        inWork.begin([note])
        defer { inWork.end([note]) }
        let files = journal.files()
        for _ in 0..<100 {
            let attempt = try await lanes.run {
                try inPlace.rewrite(request.note, files) { transaction in
                    try transaction.dropKeptBlock(note, step: request.step)
                    try transaction.dropNoteBlock(step: request.step)
                } change: { bytes in
                    guard let rest = NoteText.removing(token, content: try request.content.text(), from: bytes) else {
                        if resumes, !NoteText.tokens(bytes).contains(token) { return bytes }
                        throw Fault(
                            .failed,
                            "the block ^\(token) in \(request.note) is gone or was edited; nothing was changed",
                            path: request.note)
                    }
                    return rest
                }
            }
            switch attempt {
            case .written: return
            case .missing: throw Fault(.failed, "\(request.note) is gone", path: request.note)
            case .unsupported:
                throw Fault(
                    .failed, "\(request.note) cannot be leased, so no block is removed from it", path: request.note)
            case .replaced: continue
            case .busy: try await Task.sleep(for: .milliseconds(100))
            }
        }
        let openers = try await lanes.run { files.openers(note) }
        throw Fault(.transient, "\(note) is kept open by \(openers)", path: note)
    }
}
