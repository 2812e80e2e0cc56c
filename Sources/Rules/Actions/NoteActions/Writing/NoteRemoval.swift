import A4CoreSwift
import Ledger
import Platform
import Rules
import Synchronization

/// What is to become of a note that is there: for undo, and for a box that was answered elsewhere.
struct NoteChange: Sendable {
    /// The note as it is to be; the same bytes where nothing is to be done.
    let change: @Sendable ([UInt8]) throws -> [UInt8]
    /// Called in the transaction that ends the write.
    let finish: @Sendable (LedgerTransaction) throws -> Void
}

extension NoteWriter {
    /// Removes a block whose text nobody has changed, and the heading that was made for it, where nothing else stands below.
    ///
    /// - Parameter resumes: whether this was begun before and cut off; a block that is gone has been removed then.
    /// - Throws: `Fault(.failed)` where the block is gone or was edited; `.transient` where the note is open.
    package func remove(_ request: NoteRequest, token: String, resumes: Bool = false) async throws {
        let note = request.note
        let ownsHeading = try await journal.ledger.read { try $0.hasMadeHeading(request.heading, in: note) }
        let isHeadingGone = Mutex(false)
        try await change(note) { bytes in
            guard let rest = NoteText.removing(token, content: try request.content.text(), from: bytes) else {
                if resumes, !NoteText.tokens(bytes).contains(token) { return bytes }
                throw Fault(
                    .failed, "the block ^\(token) in \(note) is gone or was edited; nothing was changed", path: note)
            }
            // Others may have written below it meanwhile.
            let bare = ownsHeading ? Headings.removing(request.heading, from: rest) : nil
            isHeadingGone.withLock { $0 = bare != nil }
            return bare ?? rest
        } finish: { transaction in
            try transaction.dropKeptBlock(note, step: request.step)
            try transaction.dropNoteBlock(step: request.step)
            if isHeadingGone.withLock({ $0 }) { try transaction.forgetHeading(request.heading, in: note) }
        }
    }

    /// Changes a note in its turn, so that no write of the agent's own is in the way.
    func change(
        _ note: BytePath, _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        finish: @escaping @Sendable (LedgerTransaction) throws -> Void
    ) async throws {
        _ = try await enqueue(.change(NoteChange(change: change, finish: finish)), on: note)
    }

    /// Carries a change out, in the note's turn.
    func carryOut(_ change: NoteChange, in note: BytePath) async throws {
        inWork.begin([note])
        defer { inWork.end([note]) }
        let files = journal.files()
        for _ in 0..<100 {
            let attempt: InPlaceFile.Attempt
            do {
                attempt = try await lanes.run {
                    try inPlace.rewrite(note, files, finish: change.finish, change: change.change)
                }
            } catch let fault as Fault where fault.code == InPlaceFile.leased {
                attempt = .busy
            }
            switch attempt {
            case .written: return
            case .missing: throw Fault(.failed, "\(note) is gone", path: note)
            case .unsupported:
                throw Fault(.failed, "\(note) cannot be leased, so nothing in it is changed", path: note)
            case .replaced: continue
            case .busy: try await Task.sleep(for: .milliseconds(100))
            }
        }
        let openers = try await lanes.run { files.openers(note) }
        throw Fault(.transient, "\(note) is kept open by \(openers)", path: note)
    }
}
