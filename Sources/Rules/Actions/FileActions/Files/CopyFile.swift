import Platform
import Rules

/// Copies the file into a place. The copy is verified and durable before the receipt.
struct CopyFile: DecidingAction {
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
        try await FilePlacement.decide(input, arguments, pool: services.files)
    }

    func summary(of intent: FilePlacement) -> String { "copy \(intent.source) to \(intent.destination.target)" }

    func work(for intent: FilePlacement) -> any Primitive {
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
