import Rules

/// The actions of this folder, for `StandardActions`. A new one is its file and its line here; a test compares the
/// lists with the folders.
package enum ReviewRegistry {
    package static func actions(_ services: ReviewServices) -> [ActionDefinition] {
        [
            ActionDefinition(ReviewDraft.self) { try ReviewDraft($0, services) }
        ]
    }
}
