import Rules

/// The actions of this folder, for `StandardActions`. A new one is its file and its line here; a test compares the
/// lists with the folders.
package enum PublishRegistry {
    package static func actions(_ services: PublishServices) -> [ActionDefinition] {
        [
            ActionDefinition(Publish.self) { try Publish($0, services) }
        ]
    }
}
