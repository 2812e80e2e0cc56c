import A4CoreSwift
import Ledger
import Platform
import Rules
import Synchronization

/// A change to an existing note: for undo, and for a box that was answered elsewhere.
struct NoteChange: Sendable {
    /// Returns the changed bytes, or the same bytes for a no-op.
    let change: @Sendable ([UInt8]) throws -> [UInt8]
    /// Called in the transaction that ends the write.
    let finish: @Sendable (LedgerTransaction) throws -> Void
}

extension NoteWriter {
    /// Removes a block if its text is unmodified, and its heading if that was made for it and nothing else is below.
    ///
    /// - Parameter resumes: whether an earlier attempt was interrupted, so that a missing block counts as removed.
    /// - Throws: `Fault(.failed)` if the block is gone or was edited; `.transient` if the note is open.
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
            // Others may have written below it in the meantime.
            let bare = ownsHeading ? Headings.removing(request.heading, from: rest) : nil
            isHeadingGone.withLock { $0 = bare != nil }
            return bare ?? rest
        } finish: { transaction in
            try transaction.dropKeptBlock(note, step: request.step)
            try transaction.dropNoteBlock(step: request.step)
            if isHeadingGone.withLock({ $0 }) { try transaction.forgetHeading(request.heading, in: note) }
        }
    }

    /// Changes a note in its turn, so that it does not collide with the agent's own writes.
    func change(
        _ note: BytePath, _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        finish: @escaping @Sendable (LedgerTransaction) throws -> Void
    ) async throws {
        _ = try await enqueue(.change(NoteChange(change: change, finish: finish)), on: note)
    }

    /// Performs a change, in the note's turn.
    func carryOut(_ change: NoteChange, in note: BytePath) async throws {
        inWork.begin([note])
        defer { inWork.end([note]) }
        let files = journal.files()
        for _ in 0..<100 {
            let attempt: InPlaceFile.Attempt
            do {
                attempt = try await pool.run {
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
        let openers = try await pool.run { files.openers(note) }
        throw Fault(.transient, "\(note) is kept open by \(openers)", path: note)
    }
}
