/// Makes untrusted text (names, contents, output of programs and models) safe for a terminal or the journal: it is
/// displayed, but has no effect.
///
/// Characters with an effect become `\xHH` per byte, as in names written by ``BytePath``; everything else is unchanged.
/// All functions are idempotent, so text may pass through several of them.
package enum ShownText {
    /// Whether a character controls a terminal, breaks a line or changes the direction of text: the controls C0, DEL
    /// and C1, the separators U+2028 and U+2029, and Unicode's bidirectional marks, overrides and isolates.
    package static func acts(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        case 0x20..<0x600: false
        default: scalar.properties.isBidiControl
        }
    }

    /// One line: escapes line breaks, too. Keeps tabs.
    package static func line(_ text: some StringProtocol) -> String { escaped(text, keeping: ["\t"]) }

    /// Several lines: keeps line feeds and tabs.
    package static func lines(_ text: some StringProtocol) -> String { escaped(text, keeping: ["\n", "\t"]) }

    /// Like ``lines(_:)``, for text with our own colours: also keeps `ESC [ digits m`.
    package static func coloured(_ text: String) -> String {
        var out = ""
        var rest = text[...]
        while let escape = rest.firstIndex(of: "\u{1B}") {
            out += lines(rest[..<escape])
            let colour = rest[escape...].prefixMatch(of: /\u{1B}\[[0-9;]*m/)
            out += colour.map { String($0.output) } ?? byBytes("\u{1B}")
            rest = rest[(colour?.range.upperBound ?? rest.index(after: escape))...]
        }
        return out + lines(rest)
    }

    /// A JSON document with equal values: escapes such characters as `\uHHHH`. Keeps the line feeds and tabs of its
    /// layout.
    package static func json(_ document: String) -> String {
        escaped(document, keeping: ["\n", "\t"]) { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    private static func byBytes(_ scalar: Unicode.Scalar) -> String {
        UTF8.encode(scalar)?.map { "\\x" + upperHexadecimal($0) }.joined() ?? ""
    }

    private static func escaped(
        _ text: some StringProtocol, keeping kept: [Unicode.Scalar],
        _ escape: (Unicode.Scalar) -> String = byBytes
    ) -> String {
        // Fast path for nearly all text.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
        var out = ""
        for scalar in text.unicodeScalars {
            if acts(scalar), !kept.contains(scalar) {
                out += escape(scalar)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
