/// The title in a draft's front matter, in YAML (`title: …`) or TOML (`title = …`).
enum FrontMatterTitle {
    /// - Parameter lines: those between the fences.
    /// - Returns: one line; nil if there is none, or an empty one.
    static func find(in lines: some Sequence<String>) -> String? {
        guard
            let line = lines.first(where: {
                $0.lowercased().hasPrefix("title:") || $0.lowercased().hasPrefix("title =")
            })
        else { return nil }
        let start = line.dropFirst("title".count).drop { $0 == ":" || $0 == "=" || $0.isWhitespace }
        let value = (quoted(start.unicodeScalars) ?? plain(start)).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        return value.isEmpty ? nil : value
    }

    /// A comment ends it.
    private static func plain(_ text: Substring) -> String {
        String(text.firstRange(of: /(?:^|\s)#/).map { text[..<$0.lowerBound] } ?? text)
    }

    /// The text between quotes, with escapes decoded; nil if it is not quoted, or followed by anything but a comment.
    private static func quoted(_ text: Substring.UnicodeScalarView) -> String? {
        guard let mark = text.first, mark == "\"" || mark == "'" else { return nil }
        var rest = text.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if mark == "\"", scalar == "\\" {
                value.append(escaped(&rest))
            } else if scalar == mark, mark == "'", rest.first == mark {
                rest.removeFirst()
                value.append(mark)
            } else if scalar == mark {
                let behind = rest.drop { $0 == " " || $0 == "\t" }
                return behind.isEmpty || behind.first == "#" ? String(value) : nil
            } else {
                value.append(scalar)
            }
        }
        return nil
    }

    private static let named: [Unicode.Scalar: Unicode.Scalar] = [
        "0": "\0", "a": "\u{7}", "b": "\u{8}", "t": "\t", "n": "\n", "v": "\u{B}", "f": "\u{C}", "r": "\r",
        "e": "\u{1B}", "N": "\u{85}", "_": "\u{A0}", "L": "\u{2028}", "P": "\u{2029}",
    ]

    private static let digits: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8]

    /// Consumes the escape after a backslash. An unknown escape yields its letter.
    private static func escaped(_ rest: inout Substring.UnicodeScalarView) -> Unicode.Scalar {
        guard let letter = rest.popFirst() else { return "\\" }
        guard let count = digits[letter] else { return named[letter] ?? letter }
        let code = rest.prefix(count)
        guard code.count == count, code.allSatisfy(\.properties.isASCIIHexDigit),
            let number = UInt32(String(code), radix: 16)
        else { return letter }
        rest.removeFirst(count)
        return Unicode.Scalar(number) ?? "\u{FFFD}"
    }
}
