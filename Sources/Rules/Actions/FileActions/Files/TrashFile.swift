import Platform
import Rules

/// Moves the file to the freedesktop trash, from where any file manager can restore it.
struct TrashFile: DecidingAction {
    static let declaration = ActionDeclaration(
        name: "trash", summary: "Puts the file, or the whole folder, into the trash.", guarantee: .exactlyOnce,
        work: .disk, canUndo: true, takesAway: true, takes: .both,
        parameters: [], provides: [ValueSpec("trash.path", "the file's path in the trash")], example: "trash")

    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> TrashedFile {
        let trash = services.trash
        return try await services.files.run { try TrashedFile(of: input, in: trash) }
    }

    func work(for intent: TrashedFile) -> any Primitive { Trashing(services: services, file: intent) }

    func summary(of intent: TrashedFile) -> String { "put \(intent.source) into the trash" }
}
