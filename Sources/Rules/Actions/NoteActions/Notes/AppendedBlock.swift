import Platform
import Rules

/// Adds an anchored block to a note exactly once, alongside other writers. Undo removes the block if it is unchanged.
struct AppendedBlock: Primitive {
    let notes: NoteWriter
    let request: NoteRequest

    /// Empty, because note writers examine the note themselves.
    var targets: [BytePath] { [] }

    var forecast: Forecast? { Forecast([.writes(request.note, "^\(request.token)\n\(request.content.shown)")]) }

    func perform(_ context: StepContext) async throws -> Receipt {
        let hooks = context.rows.map { rows in
            LedgerHooks(begin: rows.begin) { try rows.end(receipt(token: $0), in: $1) }
        }
        return receipt(token: try await notes.append(request, hooks))
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        try await notes.written(step: request.step).map { .done(receipt(token: $0)) } ?? .notDone
    }

    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .text(let token)? = receipt.values["block.anchor"] else {
            return Receipt("no block had been written")
        }
        try await notes.remove(request, token: token, resumes: context.resumesUndo)
        return Receipt("took the block ^\(token) out of \(request.note)")
    }

    private func receipt(token: String) -> Receipt {
        Receipt(
            "wrote ^\(token) into \(request.note)",
            values: [
                "block.anchor": .text(token),
                "note.path": .text((request.note.relative(to: request.root) ?? request.note).text),
            ])
    }
}
