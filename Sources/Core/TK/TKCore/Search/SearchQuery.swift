/// A query as people type it, made into one that FTS5 cannot refuse.
///
/// Words must all occur, in any order; the last letters may be missing (`revis` finds "revision"). `"two words"` stand
/// together, `-word` must not occur, `title:word` and `project:word` look only there. Everything else is a letter or it
/// separates words; no input is an error.
public struct SearchQuery: Sendable, Hashable {
    /// The expression for `MATCH`; nil where the text holds nothing to look for.
    let expression: String?

    /// Reads what was typed; never fails.
    public init(_ text: String) {
        var wanted: [String] = []
        var unwanted: [String] = []
        for item in Self.items(text) {
            guard let term = item.term else { continue }
            if item.isExcluded { unwanted.append(term) } else { wanted.append(term) }
        }
        // FTS5 can only take away from something.
        if wanted.isEmpty {
            expression = nil
        } else {
            let all = wanted.joined(separator: " AND ")
            expression = unwanted.isEmpty ? all : "(\(all)) NOT (\(unwanted.joined(separator: " OR ")))"
        }
    }

    /// Whether there is nothing to look for.
    public var isEmpty: Bool { expression == nil }

    private static let columns = ["title", "project", "content"]

    private struct Item {
        var text: String
        var column: String?
        var isPhrase: Bool
        var isExcluded: Bool

        /// Every word between double quotes, in which a doubled quote would be the only special thing, and there is
        /// none.
        var term: String? {
            let words = text.unicodeScalars.split { !SearchQuery.isWordScalar($0) }
                .map { String(String.UnicodeScalarView($0)) }
            guard !words.isEmpty else { return nil }
            let phrase = "\"\(words.joined(separator: " "))\"" + (isPhrase ? "" : "*")
            return column.map { "\($0) : \(phrase)" } ?? phrase
        }
    }

    /// What the tokenizer takes for part of a word: letters, marks, numbers, and private use.
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
