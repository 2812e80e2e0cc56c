/// Plain text as Markdown that shows the same words: paragraphs and lines stay, no sign in them means anything.
enum PlainMarkdown {
    static func markdown(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(line)
        return lines.joined(separator: "\n")
    }

    /// Every sign that Markdown reads; a line's indent goes, as it would make code of it, and a number's stop is escaped,
    /// as it would make a list.
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
