/// The first line of a finding's block as people leave it: `- [x] **0a1b** quick/passive`, `-[x] 0A1B`, `1. [-] 0a1b`.
enum SidecarHead: Equatable {
    /// - Parameter rest: what follows the key, with single spaces.
    case head(box: String, key: String, rest: String)
    /// A line that is meant to be a head: it has a box, or names a key of the review.
    case unreadable(key: String?)

    /// Characters in which a head's box and key are looked for.
    private static let longest = 40

    /// - Parameter keys: those of the review. A word without stars is a key only if it is one of these.
    /// - Returns: nil for any other line.
    init?(_ line: Substring, keys: Set<String>) {
        let indent = line.prefix(while: Self.isBlank)
        guard indent.count < 4 else { return nil }
        let item = line[indent.endIndex...]
        let afterMark = Self.afterListMark(item)
        let text = (afterMark ?? item).drop(while: Self.isBlank)
        let isSet = afterMark.map { $0.first.map { Self.isBlank($0) || $0 == "[" } ?? false } ?? false
        if isSet, let (box, rest) = Self.box(text), let (key, tail) = Self.key(rest, keys) {
            let rest = tail.split(whereSeparator: Self.isBlank).joined(separator: " ")
            self = .head(box: String(box), key: key, rest: rest)
            return
        }
        guard afterMark != nil || text.first == "[" else { return nil }
        let start = text.prefix(Self.longest)
        let words = start.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        if let word = words.first(where: { keys.contains($0.lowercased()) }) {
            let isMeant = word == words.first || text[..<word.startIndex].contains { "[](){}".contains($0) }
            guard isMeant else { return nil }
            self = .unreadable(key: word.lowercased())
        } else if isSet, text.first == "[", Self.box(text).map({ Self.isMark($0.inside) }) ?? true {
            self = .unreadable(key: nil)
        } else {
            return nil
        }
    }

    /// Includes the non-breaking space, which some keyboards make of Alt and the space bar.
    private static func isBlank(_ character: Character) -> Bool { character.isWhitespace }

    /// What follows `-`, `*`, `+`, `1.` or `1)`.
    private static func afterListMark(_ item: Substring) -> Substring? {
        guard let first = item.first else { return nil }
        if "-*+".contains(first) { return item.dropFirst() }
        let digits = item.prefix { $0.isASCII && $0.isNumber }
        let rest = item[digits.endIndex...]
        guard (1...9).contains(digits.count), let mark = rest.first, ".)".contains(mark) else { return nil }
        return rest.dropFirst()
    }

    private static func box(_ text: Substring) -> (inside: Substring, rest: Substring)? {
        guard text.first == "[", let end = text.prefix(longest).firstIndex(of: "]") else { return nil }
        return (text[text.index(after: text.startIndex)..<end], text[text.index(after: end)...])
    }

    /// Whether brackets are a box rather than a link's text.
    private static func isMark(_ inside: Substring) -> Bool { inside.count < 3 }

    private static func key(_ text: Substring, _ keys: Set<String>) -> (key: String, rest: Substring)? {
        let text = text.drop(while: isBlank)
        let stars = text.prefix { $0 == "*" }
        let word = text[stars.endIndex...].prefix { $0.isASCII && $0.isHexDigit }
        let after = text[word.endIndex...]
        let closing = after.prefix { $0 == "*" }
        let rest = after[closing.endIndex...]
        let key = word.lowercased()
        guard (4...12).contains(key.count), stars.count == closing.count else { return nil }
        if stars.count == 2 { return (key, rest) }
        guard keys.contains(key), rest.first.map(isBlank) ?? true else { return nil }
        return (key, rest)
    }
}
