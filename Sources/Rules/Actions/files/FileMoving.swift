import FilePlacing
import Platform
import Rules

/// Moving by intent: shared by `move` and `rename`.
struct FileMoving: Sendable {
    let services: FileServices
    let verb: String
    var manner = Mover.Manner()

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        try await placing(intent).perform(context)
    }

    func recover(_ intent: FilePlacement, _ context: StepContext) async throws -> Recovery {
        try await placing(intent).recover(context)
    }

    /// Moves the file back to its old name, if nobody has changed it since.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            // Cut off after what it had replaced was brought back.
            var isPast = false
            if context.resumesUndo, case .moved(_, let slot, _, _)? = receipt.replaced {
                isPast = try context.files.status(slot) == nil
            }
            return try back.bringBackReplaced(receipt, after: back.move(receipt.effects.first, isPast: isPast))
        }
    }

    private func placing(_ intent: FilePlacement) -> Placing {
        let verb = verb
        return intent.moving(services, manner) { placed in
            Receipt(
                "\(verb) \(intent.source) to \(placed.path)\(placed.losses)", values: PlacementValues.of(placed.path),
                effects: [intent.effect(placed)])
        } skipped: {
            Receipt(
                "left \(intent.source) where it is: \(intent.destination.there) is there already",
                values: PlacementValues.of(intent.destination.there))
        }
    }
}
