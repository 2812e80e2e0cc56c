import Rules

/// The note actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum NoteRegistry {
    package static func actions(_ services: NoteServices) -> [ActionDefinition] {
        [
            ActionDefinition(AppendBlock.self) { try AppendBlock($0, services) },
            ActionDefinition(Confirm.self) { try Confirm($0, services) },
            ActionDefinition(WriteNote.self) { try WriteNote($0, services) },
        ]
    }
}
