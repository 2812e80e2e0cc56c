import Foundation

/// Vale's `capitalization`: whether a text's words have the capitals that a style asks for.
struct StyleCapitalization: Sendable {
    enum Form: Sendable {
        case title(small: Set<String>, tellsVerbs: Bool)
        case sentence
        case lower
        case upper
        case pattern(StylePattern)
    }

    let form: Form
    /// Marks after which a sentence's next word may have a capital: `:`.
    private let indicators: [String]
    /// The share of words that must be right.
    private let threshold: Double
    /// Left out of the comparison.
    private let prefix: StylePattern?
    /// A match anywhere in a word excepts it.
    private let excepted: StylePattern?
    /// Exceptions, which may be several words, and other words.
    private let words: StylePattern

    /// - Returns: nil if an exception is no regular expression.
    init?(
        _ form: Form, indicators: [String], threshold: Double, prefix: StylePattern?, exceptions: [String]
    ) {
        let body = exceptions.sorted { $0.count > $1.count }.joined(separator: "|")
        let listed = exceptions.isEmpty ? "" : #"\b(?:\#(body))\b|"#
        guard let words = StylePattern(listed + #"[\p{N}\p{L}*]+[^\s]*"#) else { return nil }
        (self.form, self.indicators, self.threshold, self.prefix) = (form, indicators, threshold, prefix)
        self.words = words
        excepted = exceptions.isEmpty ? nil : StylePattern("(?:\(body))")
    }

    /// Articles, conjunctions and short prepositions.
    private static let smallWords: Set<String> = [
        "a", "an", "and", "as", "at", "but", "by", "en", "for", "if", "in", "nor", "of", "on", "or", "per", "the", "to",
        "vs", "vs.", "via", "v", "v.",
    ]
    /// AP writes `to` in lower case before nouns only, which are not told apart here: either is right.
    static let associatedPress = Form.title(small: smallWords, tellsVerbs: true)
    static let chicago = Form.title(
        small: smallWords.union([
            "with", "from", "into", "during", "including", "until", "against", "among", "throughout", "despite",
            "towards", "upon", "concerning", "about", "over", "through", "before", "between", "after", "since",
            "without", "under", "within", "along", "following", "across", "beyond", "around", "down", "near", "above",
        ]), tellsVerbs: false)

    /// The text with the capitals asked for; nil if it is right.
    ///
    /// - Parameter exceptions: of the rule, as a whole pattern.
    func expected(
        _ text: String, _ exceptions: StylePattern?, _ budget: inout StylePattern.Budget
    ) -> String? {
        switch form {
        case .lower:
            let lower = text.lowercased()
            return text == lower || exceptions?.isFound(in: text, &budget) ?? false ? nil : lower
        case .upper:
            let upper = text.uppercased()
            return text == upper || exceptions?.isFound(in: text, &budget) ?? false ? nil : upper
        case .pattern(let pattern):
            return pattern.isFound(in: text, &budget) || exceptions?.isFound(in: text, &budget) ?? false ? nil : text
        case .sentence, .title:
            let expected = converted(text, &budget)
            return isRight(text, expected, exceptions, &budget) ? nil : expected
        }
    }

    private func isRight(
        _ text: String, _ expected: String, _ exceptions: StylePattern?, _ budget: inout StylePattern.Budget
    ) -> Bool {
        let wanted = words(of: expected, &budget)
        let words = words(of: text, &budget)
        guard !words.isEmpty else { return true }
        var count = 0
        for (index, word) in words.enumerated() {
            let isFine =
                index >= wanted.count || word == wanted[index] || exceptions?.isFound(in: word, &budget) ?? false
            if isFine {
                count += 1
                continue
            }
            switch form {
            case .title(_, let tellsVerbs):
                if word == word.uppercased() || tellsVerbs && word.lowercased() == "to" { count += 1 }
            default:
                if index == 0, word != Self.titled(word, isStrict: true) { return false }
            }
        }
        return Double(count) / Double(words.count) >= threshold
    }

    private func words(of text: String, _ budget: inout StylePattern.Budget) -> [String] {
        let units = Array(text.utf16)
        return words.matches(in: units, &budget).compactMap { $0[0] }.map {
            String(decoding: units[$0], as: UTF16.self)
        }
    }

    private func converted(_ text: String, _ budget: inout StylePattern.Budget) -> String {
        var rest = text
        var before = ""
        if let prefix, let found = prefix.matches(in: Array(text.utf16), &budget, most: 1).first?[0],
            found.lowerBound == 0
        {
            let units = Array(text.utf16)
            before = String(decoding: units[..<found.upperBound], as: UTF16.self)
            rest = String(decoding: units[found.upperBound...], as: UTF16.self)
        }
        if case .title(let small, _) = form { return before + titled(rest, small, &budget) }
        let words = words(of: rest, &budget)
        let made = words.enumerated().map { index, word in
            if isExcepted(word, &budget) { return word }
            return index == 0 || indicates(words[index - 1], isFirst: index == 1)
                ? Self.titled(word, isStrict: true) : word.lowercased()
        }
        return before + made.joined(separator: " ")
    }

    /// Whether the word behind may have a capital: `Note:`, and `1.` at the beginning.
    private func indicates(_ word: String, isFirst: Bool) -> Bool {
        indicators.contains { word.hasSuffix($0) } || isFirst && word.contains(/\d+\./)
    }

    private func isExcepted(_ word: String, _ budget: inout StylePattern.Budget) -> Bool {
        excepted?.isFound(in: word, &budget) ?? false
    }

    private func titled(_ text: String, _ small: Set<String>, _ budget: inout StylePattern.Budget) -> String {
        var result = ""
        var rest = text[...]
        var isFirst = true
        while let start = rest.firstIndex(where: { $0.isLetter || $0.isNumber }) {
            let end = rest[start...].firstIndex { $0.isWhitespace || $0 == "-" || $0 == "/" } ?? rest.endIndex
            result += rest[..<start]
            let word = String(rest[start..<end])
            let before = result.last ?? " "
            let beforeThat = result.dropLast().last ?? " "
            let isLast = end == text.endIndex
            let after = isLast ? " " : text[end]
            let mayBeSmall =
                !isFirst && !isLast && " -/".contains(before) && !":-".contains(beforeThat)
                && (after != "-" || before == "-")
            if isExcepted(word, &budget) {
                result += word
            } else if mayBeSmall, small.contains(word.lowercased()) {
                result += word.lowercased()
            } else {
                result += Self.titled(word, isStrict: false)
            }
            isFirst = false
            rest = rest[end...]
        }
        return result + rest
    }

    private static func titled(_ word: String, isStrict: Bool) -> String {
        word.prefix(1).uppercased() + (isStrict ? word.dropFirst().lowercased() : String(word.dropFirst()))
    }
}
