import Foundation
import Platform

/// Rendering for contexts in which a value must stay inert (docs/design/values.md).
extension Arguments {
    /// For paths: a value gets no `/`, no control characters and no leading dot. `file.path` and `file.folder` are
    /// exempt, as they are paths already.
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

    /// For one line: control characters and line breaks become spaces.
    package func lineText(_ name: String, values: Values) throws -> String {
        SafeText.withoutControls(try text(name, values: values))
    }

    /// For the text of a note's heading: one line, in which values are escaped.
    package func headingText(_ name: String, values: Values) throws -> String {
        SafeText.withoutControls(try markdown(name, values, as: .heading))
    }

    /// For a block of a note that others edit too. A value is one line, escaped, and cannot turn that line into an
    /// anchor, heading, list, quotation, fence, table or definition. With `raw`, its inline markup works. The
    /// template's own line breaks stay.
    package func blockText(_ name: String, values: Values) throws -> String {
        try markdown(name, values, as: .block)
    }

    /// For a whole Markdown file: as ``blockText(_:values:)``, but a `raw` value keeps its lines and all of its
    /// markup except anchors. In the template's own front matter, a value is a single line of YAML.
    package func fileText(_ name: String, values: Values) throws -> String {
        try markdown(name, values, as: .file)
    }

    private func markdown(_ name: String, _ values: Values, as kind: SafeMarkdown.Kind) throws -> String {
        let context = TemplateContext(values: values, timeZone: timeZone)
        return SafeMarkdown.text(try template(name).segments(context), as: kind)
    }

    /// For JSON: each value is escaped as the inside of a JSON string and cannot end that string. Numbers and
    /// booleans also work outside of strings.
    ///
    /// - Parameters:
    ///   - name: the name of a `.template` argument.
    ///   - values: the values available to the template.
    /// - Returns: the text; the caller has to check that it is JSON.
    /// - Throws: as ``text(_:values:)``.
    package func jsonText(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone)) { value, _ in
            String(JSON.string(value).sent.dropFirst().dropLast())
        }
    }

    /// For the path of a URL: a value is one percent-encoded segment in which `/` becomes `-`. `file.path` and
    /// `file.folder` are exempt, as they are paths already.
    ///
    /// - Parameters:
    ///   - name: the name of a `.template` argument.
    ///   - values: the values available to the template.
    /// - Returns: the path; the template's own text stays as it is.
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

    /// For a program's arguments: a value at the start of an argument cannot make it an option. `-x` becomes `./-x`.
    package func words(_ name: String, values: Values) throws -> [String] {
        let context = TemplateContext(values: values, timeZone: timeZone)
        return try templates(name).map { template in
            try template.rendered(context) { value, piece in
                piece.beginsText && !piece.name.isEmpty && value.hasPrefix("-") ? "./" + value : value
            }
        }
    }
}

/// The position of a value in its template.
package struct TemplatePiece: Sendable {
    /// The value's name; empty for quoted text.
    package let name: String
    /// Whether it begins the text.
    package let beginsText: Bool
    /// Whether it begins the text or follows a `/`.
    package let beginsPart: Bool
}

package enum SafeText {
    /// Whether the byte needs no percent-encoding in any part of a URL (RFC 3986, 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Works on scalars: a slash with a combining accent is another character, but still a slash in a path.
    static func withoutSlashes(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "/" ? "-" : $0 }))
    }

    /// Runs of line breaks and control characters become one space; invisible direction marks are removed.
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
