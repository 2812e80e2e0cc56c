import Rules

/// The actions of this folder, for `StandardActions`. A new one is its file and its line here; a test compares the
/// lists with the folders.
package enum CaptureRegistry {
    package static func actions(_ services: CaptureServices) -> [ActionDefinition] {
        [
            ActionDefinition(IndexCapture.self) { try IndexCapture($0, services) }
        ]
    }
}
