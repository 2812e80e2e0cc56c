import FilePlacing
import Platform
import Rules

/// Copies the file into a place: verified and on the disk before the receipt.
struct CopyFile: RuleAction {
    static let declaration = ActionDeclaration(
        name: "copy", summary: "Copies the file into a folder of a place.", guarantee: .exactlyOnce, work: .disk,
        canUndo: true,
        parameters: [
            DestinationParameters.place, DestinationParameters.folder, DestinationParameters.name,
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs, example: "copy: { place: backup, exists: same }")

    private let arguments: Arguments
    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws {
        try arguments.checkDestination(of: "copy")
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> FilePlacement {
        try await FilePlacement.decide(input, arguments, lanes: services.files)
    }

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        try await placing(intent).perform(context)
    }

    func recover(_ intent: FilePlacement, _ context: StepContext) async throws -> Recovery {
        try await placing(intent).recover(context)
    }

    func undo(_ intent: FilePlacement, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await ProductRemoval(services: services).undo(receipt, context)
    }

    func targets(of intent: FilePlacement) -> [BytePath] { [intent.destination.there] }

    func summary(of intent: FilePlacement) -> String { "copy \(intent.source) to \(intent.destination.target)" }

    func forecast(of intent: FilePlacement) -> Forecast? { intent.copying }

    private func placing(_ intent: FilePlacement) -> Placing {
        intent.copying(services) { placed in
            Receipt(
                "copied \(intent.source) to \(placed.path)\(placed.losses)", values: PlacementValues.of(placed.path),
                effects: [.created(placed.path, placed.fingerprint, placed.hash)])
        } skipped: {
            Receipt(
                "made no copy: \(intent.destination.there) is there already",
                values: PlacementValues.of(intent.destination.there))
        }
    }
}
