import Platform

/// An example beside a rule: a file and the expected outcome. `steward rules test` runs it in a temporary home. The
/// agent ignores it, and it is not part of the rule's digest.
package struct RuleExample: Sendable {
    /// A file described by an example.
    package struct File: Sendable {
        /// nil for the rule's first place.
        package let place: String?
        /// Relative to the place.
        package let path: BytePath
        package let content: Content
        package let modified: Time?
        /// For `user.xdg.tags`.
        package let tags: [String]
        package let attributes: [(name: String, value: String)]
        package let position: SourcePosition
    }

    package enum Content: Sendable {
        case text(String)
        /// That many arbitrary bytes.
        case size(Int64)
        /// The content of a file, relative to the rule file unless absolute.
        case file(String, SourcePosition)
    }

    package enum Time: Sendable {
        /// Seconds before the example runs.
        case ago(Double)
        case at(Timestamp)
    }

    /// One condition that must hold afterwards.
    package struct Expectation: Sendable {
        package enum What: Sendable {
            /// Whether the rule matches the file.
            case matches(Bool)
            /// The file is there and nowhere else; a bare name is relative to its own folder.
            case movedTo(String)
            /// The file is both there and at its old path.
            case copiedTo(String)
            /// The file is unmoved and has kept its name.
            case stays
            case trashed
            /// The file is in no place any more.
            case gone
            /// A file at that path contains the text.
            case holds(path: String, text: String)
            /// All of the file's tags, wherever it is.
            case tags([String])
            /// The rule refuses the file or fails, and the reason contains this text.
            case refused(String)
        }

        package let what: What
        package let position: SourcePosition
    }

    package let name: String
    package let event: FileEvent
    package let file: File
    /// The file before it was `changed` or `renamed`.
    package let before: File?
    /// Files that already exist in the places.
    package let there: [File]
    package let expectations: [Expectation]
    package let position: SourcePosition

    /// Maximum `size` of an example's file.
    package static let largest: Int64 = 64 << 20
}
