import Platform
import Rules

/// Moves the file into a place, durably and across file systems; the source goes last. A folder moves by one rename.
struct MoveFile: DecidingAction {
    static let declaration = ActionDeclaration(
        name: "move",
        summary:
            "Moves the file into a folder of a place. A folder is moved by one rename, with all that is in it, and so only "
            + "within its file system.", guarantee: .exactlyOnce, work: .disk,
        canUndo: true, takes: .both,
        parameters: [
            DestinationParameters.place, DestinationParameters.folder, DestinationParameters.name,
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs, example: "move: { place: archive, folder: \"{{ arrived | date: %Y }}\" }")

    private let arguments: Arguments
    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws {
        try arguments.checkDestination(of: "move")
        self.arguments = arguments
        self.services = services
    }

    func check(_ subject: RuleSubject) throws { try arguments.checkExists(subject) }

    func intent(for input: StepInput) async throws -> FilePlacement {
        try await FilePlacement.decide(input, arguments, pool: services.files)
    }

    func work(for intent: FilePlacement) -> any Primitive { intent.moving(services, verb: "moved") }

    func summary(of intent: FilePlacement) -> String { "move \(intent.source) to \(intent.destination.target)" }
}
