/// The text of a file that a person wrote, split into lines as YAML counts them, with positions and excerpts.
package struct SourceText: Sendable {
    /// As a person would call it, safe to print.
    package let file: String
    /// Without a byte order mark; if `fault` is set, only the part before it.
    package let text: String
    package let lines: [String]
    /// The first invalid byte: not UTF-8, or a control character.
    package let fault: (position: SourcePosition, message: String)?

    package init(file: String, bytes: [UInt8]) {
        self.file = file
        var text = ""
        var line = 1
        var column = 1
        var fault: (SourcePosition, String)?
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var isAfterReturn = false
        decoding: while true {
            switch decoder.decode(&iterator) {
            case .emptyInput: break decoding
            case .error:
                fault = (SourcePosition(line: line, column: column), "this is not UTF-8 text")
                break decoding
            case .scalarValue(let scalar):
                if scalar.value == 0xFEFF, text.isEmpty { continue }
                guard Self.isText(scalar) else {
                    let code = String(scalar.value, radix: 16, uppercase: true)
                    fault = (
                        SourcePosition(line: line, column: column), "the control character U+\(code) has no place here"
                    )
                    break decoding
                }
                text.unicodeScalars.append(scalar)
                if scalar == "\n", isAfterReturn {
                    isAfterReturn = false
                } else if Self.breaksLine(scalar) {
                    (line, column) = (line + 1, 1)
                    isAfterReturn = scalar == "\r"
                } else {
                    column += 1
                    isAfterReturn = false
                }
            }
        }
        self.text = text
        self.fault = fault.map { (position: $0.0, message: $0.1) }
        lines = Self.split(text)
    }

    /// Line `number`, one-based, safe to print and truncated to 200 characters.
    package func excerpt(_ number: Int) -> String? {
        guard number >= 1, number <= lines.count else { return nil }
        let safe = lines[number - 1].unicodeScalars.prefix(200).map { scalar -> Character in
            if scalar == "\t" { return "\t" }
            switch scalar.properties.generalCategory {
            case .control, .format, .privateUse, .surrogate, .unassigned: return "\u{FFFD}"
            default: return Character(scalar)
            }
        }
        return String(safe)
    }

    package func diagnostic(
        at position: SourcePosition, _ message: String, hint: String? = nil, severity: Diagnostic.Severity = .error
    ) -> Diagnostic {
        Diagnostic(
            file: file, at: position, message, hint: hint, excerpt: excerpt(position.line), severity: severity)
    }

    /// The position of the `ordinal`-th (zero-based) `{{` at or after `start`, plus `offset` characters if there are
    /// as many.
    package func positionOfBraces(_ ordinal: Int, offset: Int, after start: SourcePosition) -> SourcePosition? {
        var remaining = ordinal
        for number in start.line...max(start.line, min(lines.count, start.line + 2_000)) where number <= lines.count {
            let scalars = Array(lines[number - 1].unicodeScalars)
            var index = number == start.line ? start.column - 1 : 0
            while index + 1 < scalars.count {
                if scalars[index] == "{", scalars[index + 1] == "{" {
                    if remaining == 0 {
                        let column = index + 1 + offset
                        return SourcePosition(line: number, column: column <= scalars.count ? column : index + 1)
                    }
                    remaining -= 1
                    index += 2
                } else {
                    index += 1
                }
            }
        }
        return nil
    }

    /// The characters that YAML allows.
    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x85, 0x20...0x7E, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF:
            true
        default: false
        }
    }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func split(_ text: String) -> [String] {
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in text.unicodeScalars {
            if scalar == "\n", isAfterReturn {
                isAfterReturn = false
                continue
            }
            isAfterReturn = scalar == "\r"
            if breaksLine(scalar) {
                lines.append(String(line))
                line = String.UnicodeScalarView()
            } else {
                line.append(scalar)
            }
        }
        lines.append(String(line))
        return lines
    }
}
