import Rules

/// The media actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum MediaRegistry {
    package static func actions(_ services: MediaServices) -> [ActionDefinition] {
        [
            ActionDefinition(ConvertPicture.self) { try ConvertPicture($0, services) },
            ActionDefinition(SetMetadata.self) { try SetMetadata($0, services) },
        ]
    }
}
