import JSONText
import Rules

/// Values as rule files that the program writes show them.
enum YamlText {
    /// As it stands where YAML takes it for that very text, else in double quotes.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : JSON.string(text).line
    }

    /// `[a, b]`; a single value stands alone.
    static func list(_ texts: [String]) -> String {
        if let only = texts.first, texts.count == 1 { return scalar(only) }
        return "[" + texts.map(scalar).joined(separator: ", ") + "]"
    }

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter, text.last?.isWhitespace == false else { return false }
        // What YAML 1.1 reads as truth or nothing.
        guard !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased()) else {
            return false
        }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || " ._/-".contains($0)) }
    }
}
