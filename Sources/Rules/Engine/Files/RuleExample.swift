import Platform

/// An example beside a rule: a file, and what is to become of it. `steward rules test` carries it out in a throw-away
/// home; the agent never looks at it, and it is no part of the rule's digest.
package struct RuleExample: Sendable {
    /// A file as an example describes it.
    package struct File: Sendable {
        /// Nil for the rule's first place.
        package let place: String?
        /// Below the place.
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
        /// So many bytes of no meaning.
        case size(Int64)
        /// The content of a file, beside the rule file unless it is absolute.
        case file(String, SourcePosition)
    }

    package enum Time: Sendable {
        /// Seconds before the example is run.
        case ago(Double)
        case at(Timestamp)
    }

    /// One thing that must hold afterwards.
    package struct Expectation: Sendable {
        package enum What: Sendable {
            /// Whether the rule takes the file.
            case matches(Bool)
            /// The file lies there and nowhere else; a name without a place is one in its own folder.
            case movedTo(String)
            /// It lies there, and where it was.
            case copiedTo(String)
            /// It lies where it was, under its name.
            case stays
            case trashed
            /// It is nowhere in the places.
            case gone
            /// A file of that path holds the text.
            case holds(path: String, text: String)
            /// All of the file's tags, wherever it lies.
            case tags([String])
            /// The rule refuses or cannot do it, and the reason contains this.
            case refused(String)
        }

        package let what: What
        package let position: SourcePosition
    }

    package let name: String
    package let event: FileEvent
    package let file: File
    /// What the file was before it was `changed` or `renamed`.
    package let before: File?
    /// Files that lie in the places already.
    package let there: [File]
    package let expectations: [Expectation]
    package let position: SourcePosition

    /// What `size` may make of an example's file.
    package static let largest: Int64 = 64 << 20
}
