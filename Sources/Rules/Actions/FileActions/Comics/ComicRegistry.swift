import Rules

/// The actions of this folder, for `StandardActions`. A new one is its file and its line here; a test compares the
/// lists with the folders.
package enum ComicRegistry {
    package static func actions(_ services: ComicServices) -> [ActionDefinition] {
        [
            ActionDefinition(ImportComic.self) { try ImportComic($0, services) }
        ]
    }
}
