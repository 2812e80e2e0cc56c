import Rules

/// Every action that rules can name. A new one is its file and its line here; a test compares this list with the
/// folder.
package enum StandardActions {
    package static func registry(_ services: ActionServices) -> ActionRegistry {
        ActionRegistry([
            ActionDefinition(AppendBlock.self) { try AppendBlock($0, services) },
            ActionDefinition(CopyFile.self) { try CopyFile($0, services) },
            ActionDefinition(ImportComic.self) { try ImportComic($0, services) },
            ActionDefinition(IndexCapture.self) { try IndexCapture($0, services) },
            ActionDefinition(MoveFile.self) { try MoveFile($0, services) },
            ActionDefinition(RenameFile.self) { try RenameFile($0, services) },
            ActionDefinition(ReviewDraft.self) { try ReviewDraft($0, services) },
            ActionDefinition(RunProgram.self) { try RunProgram($0, services) },
            ActionDefinition(TagFile.self) { try TagFile($0, services) },
            ActionDefinition(TrashFile.self) { try TrashFile($0, services) },
            ActionDefinition(WriteNote.self) { try WriteNote($0, services) },
        ])
    }
}
