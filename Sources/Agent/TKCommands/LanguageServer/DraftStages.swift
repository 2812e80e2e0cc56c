import NoteActions
import OwnFiles
import Platform
import TKCore

/// The end of a draft's journey, in the editor (`tk journey`).
extension LanguageServer {
    /// Moves the draft to its final stage, and shows the statistics.
    ///
    /// - Throws: `JourneyRefusal` if a finding has no answer or the draft is not in revise; ``ReplyError`` if the buffer
    ///   has changes that the file lacks.
    func finish(_ open: OpenDraft) async throws {
        guard let path = open.path else { throw ReplyError.failed("\(open.name) is no file") }
        let content = ContentHash(of: Array(try await asked(open).draft.string.utf8))
        let statistics = try await pool.run {
            guard try ContentHash.ofFile(path) == content else {
                throw ReplyError.failed("\(open.name) has changes that are not saved; save it first")
            }
            var draft = try DraftJourney(of: path.real ?? path)
            let unanswered = draft.open
            try draft.move { try $0.finish(open: unanswered) }
            return draft.statistics.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        }
        examineAll()
        await connection.show(.info, "\(open.name): \(statistics)")
    }
}
