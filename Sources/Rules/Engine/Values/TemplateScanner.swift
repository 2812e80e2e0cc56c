/// Scans a template by Unicode scalars, and tracks the current braces.
struct TemplateScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    var braces = -1
    private var open = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    var isAtEnd: Bool { index >= scalars.count }
    var peek: Character { isAtEnd ? " " : Character(scalars[index]) }
    var place: Template.Place { Template.Place(braces: max(0, braces), offset: index - open) }
    var unclosed: Template.Fault {
        Template.Fault(
            message: "`{{` is never closed", hint: "add `}}`", place: Template.Place(braces: max(0, braces), offset: 0))
    }

    mutating func enterBraces() {
        braces += 1
        open = index - 2
    }

    mutating func next() -> Character {
        defer { index += 1 }
        return Character(scalars[index])
    }

    mutating func skip(_ text: String) -> Bool {
        guard scalars[index...].starts(with: text.unicodeScalars) else { return false }
        index += text.unicodeScalars.count
        return true
    }

    mutating func skipSpaces() {
        while !isAtEnd, scalars[index].properties.isWhitespace { index += 1 }
    }

    mutating func word() -> String {
        var word = String.UnicodeScalarView()
        while !isAtEnd,
            scalars[index].properties.isAlphabetic || scalars[index].properties.numericType != nil
                || "._-".unicodeScalars.contains(scalars[index])
        {
            word.append(scalars[index])
            index += 1
        }
        return String(word)
    }

    /// `"text"` or `'text'`, with the escapes `\"`, `\'`, `\\` and `\n`; any other backslash is literal. nil if there
    /// is no quote here.
    mutating func quoted() throws(Template.Fault) -> String? {
        guard !isAtEnd, scalars[index] == "\"" || scalars[index] == "'" else { return nil }
        let quote = scalars[index]
        let start = place
        index += 1
        var text = String.UnicodeScalarView()
        while !isAtEnd {
            let scalar = scalars[index]
            index += 1
            if scalar == quote { return String(text) }
            if scalar == "\\", !isAtEnd, "\"'\\n".unicodeScalars.contains(scalars[index]) {
                text.append(scalars[index] == "n" ? "\n" : scalars[index])
                index += 1
            } else {
                text.append(scalar)
            }
        }
        throw Template.Fault(message: "the quote is never closed", hint: nil, place: start)
    }

    /// Text up to the next `|` or `}}`, or another end character.
    mutating func bareArgument(upTo ends: Set<Unicode.Scalar> = ["|"]) -> String {
        var text = String.UnicodeScalarView()
        while !isAtEnd, !ends.contains(scalars[index]), !scalars[index...].starts(with: "}}".unicodeScalars) {
            text.append(scalars[index])
            index += 1
        }
        return String(text).trimmedSpaces
    }

    /// The options after a quoted argument: `, locale: de, other: "text"`.
    mutating func options() throws(Template.Fault) -> [String: String] {
        var options: [String: String] = [:]
        while true {
            skipSpaces()
            guard skip(",") else { return options }
            skipSpaces()
            let start = place
            let name = word()
            skipSpaces()
            guard !name.isEmpty, skip(":") else {
                throw Template.Fault(
                    message: "an option is needed behind `,`", hint: "write `filter: \"argument\", option: value`",
                    place: start)
            }
            skipSpaces()
            let value = try quoted() ?? bareArgument(upTo: [",", "|"])
            guard options.updateValue(value, forKey: name) == nil else {
                throw Template.Fault(
                    message: "the option `\(printable(name))` stands there twice", hint: nil, place: start)
            }
        }
    }
}
