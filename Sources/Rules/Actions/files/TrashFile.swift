import Platform
import Rules

/// Puts the file into the freedesktop trash, from which any file manager brings it back.
struct TrashFile: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let source: BytePath
        let fingerprint: Fingerprint?
        let hash: ContentHash
        let slot: BytePath
        let mark: String
    }

    static let declaration = ActionDeclaration(
        name: "trash", summary: "Puts the file into the trash.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [], provides: [ValueSpec("trash.path", "where the file lies in the trash")], example: "trash")

    private let services: ActionServices

    init(_ arguments: Arguments, _ services: ActionServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> Intent {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        let source = input.file.absolute
        let mark = String(ContentHash(of: Array(input.stepID.utf8)).description.prefix(8))
        let trash = services.trash
        let slot = try await services.files.run { try trash.slot(for: source, mark: mark) }
        return Intent(source: source, fingerprint: input.file.fingerprint, hash: hash, slot: slot, mark: mark)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let trash = services.trash
        return try await services.files.run {
            if let done = try finished(intent) { return done }
            let placed = try trash.put(intent.source, expecting: intent.hash, mark: intent.mark)
            return receipt(intent, placed)
        }
    }

    func settle(_ intent: Intent, _ context: StepContext) async throws -> Settlement {
        try await services.files.run {
            if let done = try finished(intent) { return .done(done) }
            return .notDone
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .moved(let from, let to, _, let hash)? = receipt.effects.first else {
            return Receipt("nothing was in the trash")
        }
        let trash = services.trash
        let placed = try await services.files.run {
            guard let status = try FileStatus.of(to), status.kind == .file, try ContentHash.ofFile(to) == hash else {
                throw Fault(.failed, "\(to) is no longer in the trash, or has been changed there", path: to)
            }
            try Durable.makeDirectory(from.parent)
            let placed = try Mover.move(to, expecting: hash, to: Mover.alternatives(from)) { _, _ in }
            try trash.forget(to)
            return placed
        }
        return Receipt(
            "took \(placed.path) out of the trash",
            effects: [.moved(to, to: placed.path, placed.fingerprint, placed.hash)])
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.source, intent.slot] }

    func summary(of intent: Intent) -> String { "put \(intent.source) into the trash" }

    private func finished(_ intent: Intent) throws -> Receipt? {
        guard let status = try FileStatus.of(intent.slot), try ContentHash.ofFile(intent.slot) == intent.hash else {
            return nil
        }
        if let source = try FileStatus.of(intent.source), source.fingerprint == intent.fingerprint {
            try Mover.removeSource(intent.source, expecting: intent.hash)
        }
        return receipt(intent, Mover.Placed(path: intent.slot, fingerprint: status.fingerprint, hash: intent.hash))
    }

    private func receipt(_ intent: Intent, _ placed: Mover.Placed) -> Receipt {
        Receipt(
            "put \(intent.source) into the trash", values: ["trash.path": .text(placed.path.text)],
            effects: [.moved(intent.source, to: placed.path, placed.fingerprint, placed.hash)])
    }
}
