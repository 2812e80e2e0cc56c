import Rules

/// The comic actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists with
/// the folders.
package enum ComicRegistry {
    package static func actions(_ services: ComicServices) -> [ActionDefinition] {
        [
            ActionDefinition(ImportComic.self) { try ImportComic($0, services) }
        ]
    }
}
