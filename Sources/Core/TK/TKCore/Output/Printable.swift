import Platform

/// Text from drafts and models as it may go to a terminal.
package enum Printable {
    /// Line ends and tabs stay.
    package static func text(_ text: String) -> String { ShownText.lines(text) }

    /// In one line: every run of white space is one space.
    package static func line(_ text: String) -> String {
        ShownText.line(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }
}
