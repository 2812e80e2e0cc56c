/// The severity of a style's findings, as in Vale.
enum StyleLevel: String, Sendable, Comparable {
    case suggestion, warning, error

    /// As in ``Suggestion/priority``: SARIF and rdjsonl derive their severity from it.
    var priority: Int {
        switch self {
        case .error: 1
        case .warning: 3
        case .suggestion: 4
        }
    }

    var confidence: Double {
        switch self {
        case .error: 0.9
        case .warning: 0.7
        case .suggestion: 0.5
        }
    }

    static func < (one: StyleLevel, other: StyleLevel) -> Bool { one.priority > other.priority }
}

/// A rule of a style, compiled once and shared by all drafts.
struct StyleRule: Sendable {
    /// What is searched for: Vale's `extends`.
    enum Check: Sendable {
        case existence(StyleAlternation)
        /// The choices' numbers are those of the replacements.
        case substitution(StyleAlternation, [Replacement], capitalizes: Bool)
        case occurrence(StylePattern, max: Int?, min: Int?)
        case repetition(StylePattern, max: Int, onlyLetters: Bool)
        /// Each pattern has two groups, of which a draft may use one.
        case consistency([StylePattern])
        case conditional(first: StylePattern, second: StylePattern)
        case capitalization(StyleCapitalization)
        case spelling(filters: [StylePattern], known: Set<String>)
    }

    /// What to write instead: words, and alternatives to them.
    struct Replacement: Sendable {
        /// With `|` between alternatives.
        var text: String
        /// If the text refers to its groups: the pattern that was found.
        var pattern: StylePattern?
    }

    /// `Style.Rule`.
    var name: String
    var level: StyleLevel
    /// With `%s` for the words found; before that, in substitutions, for the replacement.
    var message: String
    var link: String?
    var scopes: [StyleScope]
    var ignoresCase: Bool
    /// Findings that contain a match of it are none.
    var exceptions: StylePattern?
    var action: StyleAction?
    /// The maximum of findings in a draft.
    var limit: Int?
    var check: Check

    /// Its style.
    var style: Substring { name.prefix { $0 != "." } }
}

/// A selector of Vale's `scope`: sections that a unit of text must have, and those that it must not have.
struct StyleScope: Sendable, Hashable {
    var required: Set<String> = []
    var excluded: Set<Set<String>> = []

    /// Those that are told apart. A selector may go on with an ending of names: `text.md`.
    private static let known: Set<String> = [
        "text", "heading", "table", "list", "paragraph", "sentence", "summary", "raw", "alt", "blockquote",
    ]
    /// Of Vale's, in which this program finds nothing.
    private static let empty: Set<String> = ["title", "figure", "comment"]

    static let text = StyleScope(required: ["text"])

    /// `heading.h1 & ~list`; nil if it asks for something that is not told apart.
    init?(_ selector: String) {
        for part in selector.split(separator: "&") {
            let name = part.filter { !$0.isWhitespace }
            let sections = name.drop { $0 == "~" }.split(separator: ".").map(String.init)
            guard let first = sections.first, Self.known.contains(first) || Self.empty.contains(first) else {
                return nil
            }
            if name.hasPrefix("~") { excluded.insert(Set(sections)) } else { required.formUnion(sections) }
        }
        if required.isEmpty { required = ["text"] }
    }

    private init(required: Set<String>) { self.required = required }

    func selects(_ sections: Set<String>) -> Bool {
        required.isSubset(of: sections) && !excluded.contains { $0.isSubset(of: sections) }
    }
}
