import Foundation

/// Rendering for places where a value must not be able to do more than stand there (docs/design/values.md).
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

    /// For the text of a heading of a note: one line, in which values are shown and do nothing.
    package func headingText(_ name: String, values: Values) throws -> String {
        SafeText.withoutControls(try markdown(name, values, as: .heading))
    }

    /// For a block of a note that is others' too: a value stands in one line, is shown and does nothing, and cannot make
    /// that line an anchor, a heading, a list, a quotation, a fence, a table or a definition. With `raw` its inline
    /// markup works. The template's own line breaks stay.
    package func blockText(_ name: String, values: Values) throws -> String {
        try markdown(name, values, as: .block)
    }

    /// For a whole Markdown file: as ``blockText(_:values:)``, but a `raw` value keeps its lines and all of its markup,
    /// anchors apart; and in the template's own front matter a value is one line of YAML's.
    package func fileText(_ name: String, values: Values) throws -> String {
        try markdown(name, values, as: .file)
    }

    private func markdown(_ name: String, _ values: Values, as kind: SafeMarkdown.Kind) throws -> String {
        let context = TemplateContext(values: values, timeZone: timeZone)
        return SafeMarkdown.text(try template(name).segments(context), as: kind)
    }

    /// For a program's arguments: where a value begins one, the value cannot make it an option. `-x` becomes `./-x`.
    package func words(_ name: String, values: Values) throws -> [String] {
        let context = TemplateContext(values: values, timeZone: timeZone)
        return try templates(name).map { template in
            try template.rendered(context) { value, piece in
                piece.beginsText && !piece.name.isEmpty && value.hasPrefix("-") ? "./" + value : value
            }
        }
    }
}

/// Where a value stands in its template.
package struct TemplatePiece: Sendable {
    /// The value's name; empty for quoted text.
    package let name: String
    /// Nothing stands before it.
    package let beginsText: Bool
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
