import Rules

/// The process actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists
/// with the folders.
package enum ProcessRegistry {
    package static func actions(_ services: ProcessServices) -> [ActionDefinition] {
        [
            ActionDefinition(ConvertFile.self) { try ConvertFile($0, services) },
            ActionDefinition(NotifyPerson.self) { try NotifyPerson($0, services) },
            ActionDefinition(RunProgram.self) { try RunProgram($0, services) },
        ]
    }
}
