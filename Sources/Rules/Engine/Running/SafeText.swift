import Foundation

/// Rendering for places where a value must not be able to do more than stand there (design section 4, "Values are data").
extension Arguments {
    /// For paths: a value holds no `/`, no control character and no leading dot, but for `file.path` and `file.folder`,
    /// which are paths already.
    package func pathText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, piece in
            var text = SafeText.withoutControls(value)
            if piece.name != "file.path" && piece.name != "file.folder" {
                text = text.replacingOccurrences(of: "/", with: "-")
                if piece.beginsPart { text = String(text.drop { $0 == "." || $0 == " " }) }
            }
            return text
        }
    }

    /// For one line: controls and line breaks become spaces.
    package func lineText(_ name: String, values: Values) throws -> String {
        SafeText.withoutControls(try text(name, values: values))
    }

    /// For Markdown: line breaks and controls of values become spaces, and a value that begins a line cannot make it an
    /// anchor, a heading, a list, a quotation or a fence. The template's own line breaks stay.
    package func blockText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, piece in
            let text = SafeText.withoutControls(value)
            guard piece.beginsLine else { return text }
            let trimmed = String(text.drop { $0 == " " })
            guard let first = trimmed.unicodeScalars.first else { return trimmed }
            if "^#-+*>`~=|_<".unicodeScalars.contains(first) { return "\\" + trimmed }
            // `1.` and `1)` begin a list, too.
            let digits = trimmed.prefix { $0.isASCII && $0.isNumber }
            let mark = trimmed.dropFirst(digits.count)
            guard !digits.isEmpty, mark.first == "." || mark.first == ")", mark.dropFirst().first ?? " " == " " else {
                return trimmed
            }
            return digits + "\\" + mark
        }
    }
}

/// Where a value stands in its template.
package struct TemplatePiece: Sendable {
    /// The value's name; empty for quoted text.
    package let name: String
    /// Nothing but blanks stands between it and the beginning of its line.
    package let beginsLine: Bool
    /// It stands at the beginning, or after a `/`.
    package let beginsPart: Bool
}

package enum SafeText {
    /// Runs of line breaks and control characters become one space; invisible direction marks go.
    package static func withoutControls(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var pending = false
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                pending = true
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}":
                continue
            default:
                if pending && !out.isEmpty { out.append(" ") }
                pending = false
                out.append(scalar)
            }
        }
        return String(out)
    }
}
