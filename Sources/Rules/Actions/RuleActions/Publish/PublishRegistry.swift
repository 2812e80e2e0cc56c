import Rules

/// The publish action, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum PublishRegistry {
    package static func actions(_ services: PublishServices) -> [ActionDefinition] {
        [
            ActionDefinition(Publish.self) { try Publish($0, services) }
        ]
    }
}
