/// Plain text as Markdown that renders as the same words: paragraphs and lines stay, and all special characters are
/// escaped.
enum PlainMarkdown {
    static func markdown(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(line)
        return lines.joined(separator: "\n")
    }

    /// Escapes every Markdown character, removes a line's indent, which would turn it into code, and escapes the stop
    /// after a number, which would turn it into a list.
    private static func line(_ text: Substring) -> String {
        let words = text.drop { $0.isWhitespace }
        var escaped = ""
        let digits = words.prefix { $0.isASCII && $0.isNumber }
        for (offset, character) in words.enumerated() {
            let isMark = signs.contains(character)
            let isStop = offset == digits.count && offset > 0 && (character == "." || character == ")")
            let opensLine = offset == 0 && "-+=".contains(character)
            if isMark || isStop || opensLine { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }

    private static let signs: Set<Character> = ["\\", "`", "*", "_", "[", "]", "<", ">", "#", "|", "~", "&", "$", "!"]
}
