import Platform

/// Sanitises text from drafts and models for a terminal.
package enum Printable {
    /// Keeps line breaks and tabs.
    package static func text(_ text: String) -> String { ShownText.lines(text) }

    /// In one line, with runs of white space collapsed to one space.
    package static func line(_ text: String) -> String {
        ShownText.line(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }
}
