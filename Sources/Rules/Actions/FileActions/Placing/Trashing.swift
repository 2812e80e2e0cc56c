import Platform
import Rules

/// Moves a file or a whole folder to the trash, exactly once. Undo restores it.
package struct Trashing: Primitive {
    private let services: FileServices
    private let file: TrashedFile

    package init(services: FileServices, file: TrashedFile) { (self.services, self.file) = (services, file) }

    package var targets: [BytePath] { [file.source, file.slot] }

    package var forecast: Forecast? { Forecast([.trashes]) }

    package func perform(_ context: StepContext) async throws -> Receipt {
        try await services.files.run { try receipt(file.put(services, context)) }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        try await services.files.run { try file.found(services, context).map { .done(receipt($0)) } ?? .notDone }
    }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run { try back.restoreFromTrash(receipt.effects.first) }
    }

    private func receipt(_ placed: Mover.Placed) -> Receipt {
        Receipt(
            "put \(file.source) into the trash\(placed.losses)", values: ["trash.path": .text(placed.path.text)],
            effects: [file.effect(placed)])
    }
}
