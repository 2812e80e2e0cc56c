/// Text from drafts and models as it may go to a terminal.
package enum Printable {
    /// Line ends and tabs stay; what could steer a terminal becomes `\u{HH}`.
    package static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { steersTerminal($0) && $0 != "\n" && $0 != "\t" }) else {
            return text
        }
        var out = ""
        for scalar in text.unicodeScalars {
            if steersTerminal(scalar), scalar != "\n", scalar != "\t" {
                out += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// In one line: every run of white space is one space.
    package static func line(_ text: String) -> String {
        Self.text(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    /// Controls, and marks that turn the direction of text; the joiners inside emoji are none.
    static func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
