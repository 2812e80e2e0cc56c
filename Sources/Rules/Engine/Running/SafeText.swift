import Foundation
import JSONText
import Platform

/// Rendering for places where a value must not be able to do more than stand there (docs/design/values.md).
extension Arguments {
    /// For paths: a value holds no `/`, no control character and no leading dot, but for `file.path` and `file.folder`,
    /// which are paths already.
    package func pathText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, piece in
            var text = SafeText.withoutControls(value)
            if piece.name != "file.path" && piece.name != "file.folder" {
                text = SafeText.withoutSlashes(text)
                if piece.beginsPart { text = String(Substring(text.unicodeScalars.drop { $0 == "." || $0 == " " })) }
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

    /// For a JSON text: each value is the inside of a JSON string, and cannot end the string that it stands in. Numbers and
    /// truths are themselves outside of one as well.
    ///
    /// - Parameters:
    ///   - name: of a `.template`.
    ///   - values: what the template may show.
    /// - Returns: the text; whether it is JSON is for the caller to find out.
    /// - Throws: as ``text(_:values:)``.
    package func jsonText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, _ in
            String(JSON.string(value).sent.dropFirst().dropLast())
        }
    }

    /// For the path of a URL: a value is percent-encoded and one segment, in which `/` is `-`, but for `file.path` and
    /// `file.folder`, which are paths already.
    ///
    /// - Parameters:
    ///   - name: of a `.template`.
    ///   - values: what the template may show.
    /// - Returns: the path; what the template itself says stands in it as it is.
    /// - Throws: as ``text(_:values:)``.
    package func urlPathText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, piece in
            let isPath = piece.name == "file.path" || piece.name == "file.folder"
            let text = isPath ? value : SafeText.withoutSlashes(value)
            return text.utf8.map { byte in
                SafeText.isUnreserved(byte) || byte == UInt8(ascii: "/")
                    ? String(UnicodeScalar(byte)) : "%" + hexadecimal([byte]).uppercased()
            }.joined()
        }
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
    /// Whether the byte stands for itself in any part of a URL (RFC 3986, 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// By scalars: a slash under an accent is another character, and in a path a slash all the same.
    static func withoutSlashes(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "/" ? "-" : $0 }))
    }

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
