/// What a rule is about, as `match` says it (docs/design/folders.md).
package enum RuleSubject: String, Sendable, Codable, CaseIterable {
    case files, folders

    /// One of them, for messages.
    package var one: String { self == .files ? "a file" : "a folder" }
}

/// What a condition can be asked of, or an action done with.
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
