/// A position in a file, one-based; columns count Unicode scalars, as in YAML.
package struct SourcePosition: Sendable, Hashable, Codable, Comparable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = max(1, line)
        self.column = max(1, column)
    }

    package static let start = SourcePosition(line: 1, column: 1)

    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// An error or warning about a file that a person wrote: position, message and hint.
package struct Diagnostic: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    package enum Severity: String, Sendable, Codable {
        /// The file is invalid; a reload keeps the rules in force.
        case error
        case warning
    }

    /// The file as a person would call it, safe to print.
    package let file: String
    /// One-based.
    package let line: Int
    /// One-based, in Unicode scalars.
    package let column: Int
    package let severity: Severity
    package let message: String
    /// A suggestion: `did you mean …?`.
    package let hint: String?
    /// The text of the line, safe to print; nil if there is none.
    package let excerpt: String?

    package init(
        file: String, at position: SourcePosition, _ message: String, hint: String? = nil, excerpt: String? = nil,
        severity: Severity = .error
    ) {
        self.file = file
        line = position.line
        column = position.column
        self.severity = severity
        self.message = message
        self.hint = hint
        self.excerpt = excerpt
    }

    package var position: SourcePosition { SourcePosition(line: line, column: column) }

    /// `FILE:LINE:COLUMN: error: MESSAGE; HINT`.
    package var headline: String {
        "\(file):\(line):\(column): \(severity.rawValue): \(message)" + (hint.map { "; \($0)" } ?? "")
    }

    /// The headline, then the line, and a caret below the column.
    package var lines: [String] {
        guard let excerpt, !excerpt.isEmpty else { return [headline] }
        // Tabs are repeated so that the caret is aligned for any tab width.
        var indent = excerpt.unicodeScalars.prefix(column - 1).map { $0 == "\t" ? "\t" : " " }.joined()
        indent += String(repeating: " ", count: max(0, min(column - 1, 200) - excerpt.unicodeScalars.count))
        return [headline, "    \(excerpt)", "    \(indent)^"]
    }

    /// All lines as one text.
    package var description: String { lines.joined(separator: "\n") }
}

extension [Diagnostic] {
    package var hasErrors: Bool { contains { $0.severity == .error } }
}
