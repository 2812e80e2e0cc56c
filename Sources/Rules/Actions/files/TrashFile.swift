import FilePlacing
import Platform
import Rules

/// Puts the file into the freedesktop trash, from which any file manager brings it back.
struct TrashFile: RuleAction {
    static let declaration = ActionDeclaration(
        name: "trash", summary: "Puts the file, or the whole folder, into the trash.", guarantee: .exactlyOnce,
        work: .disk, canUndo: true, takesAway: true, takes: .both,
        parameters: [], provides: [ValueSpec("trash.path", "where the file lies in the trash")], example: "trash")

    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> TrashedFile {
        let trash = services.trash
        return try await services.files.run { try TrashedFile(of: input, in: trash) }
    }

    func perform(_ intent: TrashedFile, _ context: StepContext) async throws -> Receipt {
        try await services.files.run { try receipt(intent, intent.put(services, context)) }
    }

    func recover(_ intent: TrashedFile, _ context: StepContext) async throws -> Recovery {
        try await services.files.run {
            if let placed = try intent.found(services, context) { return .done(receipt(intent, placed)) }
            return .notDone
        }
    }

    func undo(_ intent: TrashedFile, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run { try back.restoreFromTrash(receipt.effects.first) }
    }

    func targets(of intent: TrashedFile) -> [BytePath] { [intent.source, intent.slot] }

    func summary(of intent: TrashedFile) -> String { "put \(intent.source) into the trash" }

    func forecast(of intent: TrashedFile) -> Forecast? { Forecast([.trashes]) }

    private func receipt(_ intent: TrashedFile, _ placed: Mover.Placed) -> Receipt {
        Receipt(
            "put \(intent.source) into the trash\(placed.losses)", values: ["trash.path": .text(placed.path.text)],
            effects: [intent.effect(placed)])
    }
}
