import SQLiteFile

/// A query as people type it, converted to one that FTS5 always accepts.
///
/// All words must occur, in any order; word endings may be missing (`revis` finds "revision"). `"two words"` is a
/// phrase, `-word` must not occur, `title:word` and `project:word` search only there. All other characters are letters
/// or separate words; no input is an error.
public struct SearchQuery: Sendable, Hashable {
    /// The expression for `MATCH`; nil if there is nothing to search for.
    let expression: String?

    /// Parses the input; never fails.
    public init(_ text: String) {
        var wanted: [String] = []
        var unwanted: [String] = []
        for item in Self.items(text) {
            guard let term = item.term else { continue }
            if item.isExcluded { unwanted.append(term) } else { wanted.append(term) }
        }
        // FTS5 can only exclude from a set of matches.
        if wanted.isEmpty {
            expression = nil
        } else {
            let all = wanted.joined(separator: " AND ")
            expression = unwanted.isEmpty ? all : "(\(all)) NOT (\(unwanted.joined(separator: " OR ")))"
        }
    }

    /// Whether there is nothing to search for.
    public var isEmpty: Bool { expression == nil }

    private static let columns = ["title", "project", "content"]

    private struct Item {
        var text: String
        var column: String?
        var isPhrase: Bool
        var isExcluded: Bool

        /// Every word in double quotes. Only a double quote would need escaping, and words contain none.
        var term: String? {
            let phrases = SearchedForms.of(text).compactMap { form -> String? in
                let words = form.unicodeScalars.split { !SearchQuery.isWordScalar($0) }
                    .map { String(String.UnicodeScalarView($0)) }
                return words.isEmpty ? nil : "\"\(words.joined(separator: " "))\"" + (isPhrase ? "" : "*")
            }
            guard !phrases.isEmpty else { return nil }
            let phrase = "(\(phrases.joined(separator: " OR ")))"
            return column.map { "\($0) : \(phrase)" } ?? phrase
        }
    }

    /// The tokenizer's word characters: letters, marks, numbers, and private use.
    private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark, .privateUse:
            true
        default: false
        }
    }

    private static func items(_ text: String) -> [Item] {
        var items: [Item] = []
        var rest = text[...]
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard !rest.isEmpty else { return items }
            var item = Item(text: "", column: nil, isPhrase: false, isExcluded: false)
            if rest.first == "-" {
                item.isExcluded = true
                rest = rest.dropFirst()
            }
            if let name = columns.first(where: { rest.lowercased().hasPrefix("\($0):") }) {
                item.column = name
                rest = rest.dropFirst(name.count + 1)
            }
            if let first = rest.first, isQuote(first) {
                let body = rest.dropFirst().prefix { !isQuote($0) }
                item.text = String(body)
                item.isPhrase = true
                rest = rest[body.endIndex...].dropFirst()
            } else {
                let body = rest.prefix { !$0.isWhitespace && !isQuote($0) }
                item.text = String(body)
                rest = rest[body.endIndex...]
            }
            items.append(item)
        }
    }

    private static func isQuote(_ character: Character) -> Bool { "\"“”„«»".contains(character) }
}
