import Platform
import Rules

/// Renames the file within its folder.
struct RenameFile: DecidingAction {
    static let declaration = ActionDeclaration(
        name: "rename", summary: "Renames the file, or the folder, in place.", guarantee: .exactlyOnce,
        work: .disk,
        canUndo: true, takes: .both,
        parameters: [
            ParameterSpec("name", .template, required: true, "the new name, with its extension"),
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs,
        example: "rename: { name: \"{{ file.modified | date: %Y-%m-%d }} {{ file.name }}\" }")

    private let arguments: Arguments
    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws {
        try arguments.checkDestination()
        self.arguments = arguments
        self.services = services
    }

    func check(_ subject: RuleSubject) throws { try arguments.checkExists(subject) }

    func intent(for input: StepInput) async throws -> FilePlacement {
        try await FilePlacement.decide(input, arguments, stays: true, pool: services.files)
    }

    func work(for intent: FilePlacement) -> any Primitive { intent.moving(services, .unchanged, verb: "renamed") }

    func summary(of intent: FilePlacement) -> String { "rename \(intent.source) to \(intent.destination.target)" }
}
