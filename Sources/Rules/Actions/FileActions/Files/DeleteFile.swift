import Platform
import Rules

/// Deletes the file permanently.
struct DeleteFile: DecidingAction {
    static let declaration = ActionDeclaration(
        name: "delete",
        summary:
            "Deletes the file permanently: it is not trashed and cannot be restored. Only for a rule with a minimum "
            + "`age` in `where`, or after a step `confirm`. A file that has changed since it was examined stays, and so "
            + "does one that is being written, or that has other names (hard links), under which it would still "
            + "exist.",
        guarantee: .exactlyOnce, work: .disk, canUndo: false, isIrrevocable: true, parameters: [], example: "delete")

    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> DeletedFile {
        try await services.files.run { try DeletedFile(of: input) }
    }

    func work(for intent: DeletedFile) -> any Primitive { Deletion(services: services, file: intent) }

    func summary(of intent: DeletedFile) -> String { "delete \(intent.content.file) for good" }
}
