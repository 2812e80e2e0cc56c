import Rules

/// The capture actions, for `StandardActions`. Each action is one file and one line here; a test compares the lists
/// with the folders.
package enum CaptureRegistry {
    package static func actions(_ services: CaptureServices) -> [ActionDefinition] {
        [
            ActionDefinition(IndexCapture.self) { try IndexCapture($0, services) }
        ]
    }
}
