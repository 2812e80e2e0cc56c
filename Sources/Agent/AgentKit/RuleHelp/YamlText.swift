import Platform
import Rules

/// Formats values for generated rule files.
enum YamlText {
    /// Plain if YAML reads it as the same text, otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : JSON.string(text).line
    }

    /// `[a, b]`; a single value without brackets.
    static func list(_ texts: [String]) -> String {
        if let only = texts.first, texts.count == 1 { return scalar(only) }
        return "[" + texts.map(scalar).joined(separator: ", ") + "]"
    }

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter, text.last?.isWhitespace == false else { return false }
        // Words that YAML 1.1 reads as a boolean or null.
        guard !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased()) else {
            return false
        }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || " ._/-".contains($0)) }
    }
}
