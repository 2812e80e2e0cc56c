/// A finding in a review, with the writer's answer (docs/design/advisors.md, "Journey").
public struct ReviewComment: Codable, Sendable, Hashable, Identifiable {
    /// The writer's answer.
    public enum Status: String, Codable, Sendable, CaseIterable {
        case pending, accepted, edited, skipped
    }

    /// The advisor's finding.
    public var suggestion: Suggestion
    /// The answer; pending at first.
    public private(set) var status: Status
    /// The writer's own text in place of the proposal; nil unless ``status`` is `edited`.
    public private(set) var editedText: String?

    /// The suggestion's own.
    public var id: String { suggestion.id }

    /// A new comment, pending.
    public init(_ suggestion: Suggestion) {
        self.suggestion = suggestion
        status = .pending
        editedText = nil
    }

    /// The text for the draft: nil while the comment is pending, or if it was skipped.
    public var appliedText: String? {
        switch status {
        case .accepted: suggestion.suggestedText
        case .edited: editedText
        case .pending, .skipped: nil
        }
    }

    mutating func set(_ status: Status, editedText: String? = nil) {
        self.status = status
        self.editedText = editedText
    }
}
