/// What a rule is about, as set by `match` (docs/design/folders.md).
package enum RuleSubject: String, Sendable, Codable, CaseIterable {
    case files, folders

    /// In the singular, for messages.
    package var one: String { self == .files ? "a file" : "a folder" }
}

/// The subjects that a condition or an action supports.
package enum RuleSubjects: Sendable, Equatable {
    case files, folders, both

    package func contains(_ subject: RuleSubject) -> Bool {
        switch self {
        case .files: subject == .files
        case .folders: subject == .folders
        case .both: true
        }
    }
}
