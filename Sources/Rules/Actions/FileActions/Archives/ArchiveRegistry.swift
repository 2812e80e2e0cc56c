import Rules

/// The archive actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists
/// with the folders.
package enum ArchiveRegistry {
    package static func actions(_ services: ArchiveServices) -> [ActionDefinition] {
        [
            ActionDefinition(PackFile.self) { try PackFile($0, services) },
            ActionDefinition(UnpackArchive.self) { try UnpackArchive($0, services) },
        ]
    }
}
