/// A finding on its way through a review (docs/design/advisors.md, "Journey").
public struct ReviewComment: Codable, Sendable, Hashable, Identifiable {
    /// What the writer answered.
    public enum Status: String, Codable, Sendable, CaseIterable {
        case pending, accepted, edited, skipped
    }

    /// What the advisor found.
    public var suggestion: Suggestion
    /// The answer; pending at first.
    public private(set) var status: Status
    /// What the writer put in place of the proposal; nil unless ``status`` is `edited`.
    public private(set) var editedText: String?

    /// The suggestion's own.
    public var id: String { suggestion.id }

    /// A new comment, pending.
    public init(_ suggestion: Suggestion) {
        self.suggestion = suggestion
        status = .pending
        editedText = nil
    }

    /// What goes into the draft: nil while the comment is pending, and for one that was skipped.
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
