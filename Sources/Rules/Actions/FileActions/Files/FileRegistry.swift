import Rules

/// The file actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum FileRegistry {
    package static func actions(_ services: FileServices) -> [ActionDefinition] {
        [
            ActionDefinition(CopyFile.self) { try CopyFile($0, services) },
            ActionDefinition(DeleteFile.self) { try DeleteFile($0, services) },
            ActionDefinition(LinkFile.self) { try LinkFile($0, services) },
            ActionDefinition(MoveFile.self) { try MoveFile($0, services) },
            ActionDefinition(RenameFile.self) { try RenameFile($0, services) },
            ActionDefinition(SetFile.self) { try SetFile($0, services) },
            ActionDefinition(TagFile.self) { try TagFile($0, services) },
            ActionDefinition(TrashFile.self) { try TrashFile($0, services) },
            ActionDefinition(WriteAttributes.self) { try WriteAttributes($0, services) },
        ]
    }
}
