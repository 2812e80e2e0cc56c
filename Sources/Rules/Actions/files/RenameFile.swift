import FilePlacing
import Platform
import Rules

/// Gives the file another name in its own folder.
struct RenameFile: RuleAction {
    static let declaration = ActionDeclaration(
        name: "rename", summary: "Gives the file, or the folder, another name where it lies.", guarantee: .exactlyOnce,
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
    private let moving: FileMoving

    init(_ arguments: Arguments, _ services: FileServices) throws {
        try arguments.checkDestination()
        self.arguments = arguments
        self.services = services
        moving = FileMoving(services: services, verb: "renamed", manner: .unchanged)
    }

    func check(_ subject: RuleSubject) throws { try arguments.checkExists(subject) }

    func intent(for input: StepInput) async throws -> FilePlacement {
        try await FilePlacement.decide(input, arguments, stays: true, lanes: services.files)
    }

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        try await moving.perform(intent, context)
    }

    func recover(_ intent: FilePlacement, _ context: StepContext) async throws -> Recovery {
        try await moving.recover(intent, context)
    }

    func undo(_ intent: FilePlacement, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await moving.undo(receipt, context)
    }

    func targets(of intent: FilePlacement) -> [BytePath] { intent.targets }

    func summary(of intent: FilePlacement) -> String { "rename \(intent.source) to \(intent.destination.target)" }

    func forecast(of intent: FilePlacement) -> Forecast? { intent.moving }
}
