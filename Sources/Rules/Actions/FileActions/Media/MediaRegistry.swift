import Rules

/// The actions of this folder, for `StandardActions`. A new one is its file and its line here; a test compares the
/// lists with the folders.
package enum MediaRegistry {
    package static func actions(_ services: MediaServices) -> [ActionDefinition] {
        [
            ActionDefinition(ConvertPicture.self) { try ConvertPicture($0, services) },
            ActionDefinition(SetMetadata.self) { try SetMetadata($0, services) },
        ]
    }
}
