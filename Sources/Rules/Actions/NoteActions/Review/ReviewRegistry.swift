import Rules

/// The review actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum ReviewRegistry {
    /// The name of the action that reviews drafts.
    package static var review: String { ReviewDraft.declaration.name }

    package static func actions(_ services: ReviewServices) -> [ActionDefinition] {
        [
            ActionDefinition(ReviewDraft.self) { try ReviewDraft($0, services) }
        ]
    }
}
