/// Patterns of which, at each place, the first that matches counts.
///
/// They are found by the letters that they begin with: a list of a thousand phrases is not tried at every place.
struct StyleAlternation: Sendable {
    /// One of the patterns, as written.
    struct Choice {
        var pattern: String
        /// The caller's number of it.
        var index: Int
    }

    struct Match {
        /// In UTF-16.
        var range: Range<Int>
        /// Of the ``Choice``.
        var index: Int
    }

    private indirect enum Node {
        case leaf(StylePattern, [Int])
        /// With their beginnings.
        case few(StylePattern, [Int], [[UInt16]])
        case branch([UInt16: Node])
    }

    /// Of those that begin with letters.
    private var trie: Node?
    /// The marks of their beginnings; see ``StyleMarks``.
    private var beginnings: [StyleMarks.Mark] = []
    /// All others.
    private var others: (pattern: StylePattern, indices: [Int])?

    private static let depth = 3
    /// So few share a pattern.
    private static let few = 8

    /// A single pattern.
    init(_ pattern: StylePattern) { others = (pattern, []) }

    /// - Parameters:
    ///   - wrap: makes a whole pattern of `a|b`.
    /// - Returns: nil if one is no regular expression, or refers to a group.
    init?(_ choices: [Choice], wrap: (String) -> String) {
        var plain: [(choice: Choice, beginning: [UInt16])] = []
        var rest: [Choice] = []
        for choice in choices.flatMap(PatternParts.alternatives) {
            guard !PatternParts.refersToGroups(choice.pattern) else { return nil }
            let beginning = PatternParts.beginning(of: choice.pattern, most: Self.depth)
            if beginning.isEmpty { rest.append(choice) } else { plain.append((choice, beginning)) }
        }
        func compiled(_ choices: [Choice]) -> (StylePattern, [Int])? {
            let parts = choices.compactMap { choice in
                var translation = PatternTranslation(choice.pattern, isCapturing: false)
                return translation.text().map { "(\($0))" }
            }
            guard parts.count == choices.count,
                let pattern = StylePattern(translated: wrap(parts.joined(separator: "|")))
            else { return nil }
            return (pattern, choices.map(\.index))
        }
        func node(of items: [(choice: Choice, beginning: [UInt16])], _ depth: Int) -> Node? {
            if items.count <= Self.few || depth == Self.depth || items.contains(where: { $0.beginning.count <= depth })
            {
                return compiled(items.map(\.choice)).map { .leaf($0, $1) }
            }
            var branches: [UInt16: Node] = [:]
            for (letter, part) in Dictionary(grouping: items, by: { $0.beginning[depth] }) {
                guard let made = node(of: part, depth + 1) else { return nil }
                branches[letter] = made
            }
            return .branch(branches)
        }
        if !plain.isEmpty {
            guard var made = node(of: plain, 0) else { return nil }
            if case .leaf(let pattern, let indices) = made {
                made = .few(pattern, indices, Array(Set(plain.map(\.beginning))))
            }
            trie = made
            beginnings = Array(Set(plain.map { StyleMarks.mark($0.beginning[...]) }))
        }
        if !rest.isEmpty {
            guard let found = compiled(rest) else { return nil }
            others = found
        }
    }

    /// By position, without overlaps.
    func matches(in unit: StyleUnit, _ budget: inout StylePattern.Budget) -> [Match] {
        let trie = beginnings.contains(where: unit.marks.contains) ? trie : nil
        var matches: [Match] = []
        var start = 0
        // Each is searched for again only behind a match that covers it.
        var (listed, other) = (Next.unknown, Next.unknown)
        while !budget.isSpent {
            if listed.isBefore(start) { listed = .init(trie.flatMap { Self.next($0, unit, start, &budget) }) }
            if other.isBefore(start) {
                other = .init(others.flatMap { Self.next(.leaf($0.pattern, $0.indices), unit, start, &budget) })
            }
            guard let match = Self.first(listed.match, other.match) else { break }
            matches.append(match)
            // Behind an empty match the search goes on at the next letter.
            start = max(match.range.upperBound, match.range.lowerBound + 1)
            guard start <= unit.units.count else { break }
        }
        return matches
    }

    private enum Next {
        case unknown
        case none
        case found(Match)

        init(_ match: Match?) { self = match.map(Next.found) ?? Next.none }

        var match: Match? {
            guard case .found(let match) = self else { return nil }
            return match
        }

        func isBefore(_ start: Int) -> Bool {
            switch self {
            case .unknown: true
            case .none: false
            case .found(let match): match.range.lowerBound < start
            }
        }
    }

    private static func first(_ one: Match?, _ other: Match?) -> Match? {
        guard let one, let other else { return one ?? other }
        return (one.range.lowerBound, one.index) <= (other.range.lowerBound, other.index) ? one : other
    }

    private static func next(
        _ node: Node, _ unit: StyleUnit, _ start: Int, _ budget: inout StylePattern.Budget
    ) -> Match? {
        guard start < unit.units.count else { return nil }
        if case .leaf(let pattern, let indices) = node {
            return pattern.matches(in: unit.units, &budget, from: start, most: 1).first.flatMap { match($0, indices) }
        }
        var place = start
        while place < unit.units.count {
            let pattern: StylePattern
            let indices: [Int]
            if case .few(let few, let numbers, let beginnings) = node {
                guard let found = Self.place(of: beginnings, in: unit.folded, from: place, &budget) else { return nil }
                (place, pattern, indices) = (found, few, numbers)
            } else if let found = leaf(node, unit.folded, place) {
                (pattern, indices) = found
            } else {
                place += 1
                continue
            }
            if let found = pattern.match(in: unit.units, at: place, &budget) { return match(found, indices) }
            if budget.isSpent { return nil }
            place += 1
        }
        return nil
    }

    /// The first place where one of the beginnings stands.
    ///
    /// Looks no further than twice as far as that place: what is rare is not searched for in all of the text again and
    /// again.
    private static func place(
        of beginnings: [[UInt16]], in text: [UInt16], from start: Int, _ budget: inout StylePattern.Budget
    ) -> Int? {
        text.withUnsafeBufferPointer { text in
            var (start, length) = (start, 64)
            while start < text.count {
                let end = min(text.count, start + length)
                var first = end
                for beginning in beginnings {
                    guard let letter = beginning.first, start < first else { continue }
                    for place in start..<first where text[place] == letter {
                        if text[place...].starts(with: beginning) {
                            first = place
                            break
                        }
                    }
                }
                budget.examine(end - start)
                if first < end { return first }
                (start, length) = (end, 2 * length)
            }
            return nil
        }
    }

    /// The patterns that may begin at `place`.
    private static func leaf(_ node: Node, _ text: [UInt16], _ place: Int) -> (StylePattern, [Int])? {
        var node = node
        var place = place
        while case .branch(let branches) = node {
            guard place < text.count, let next = branches[text[place]] else { return nil }
            node = next
            place += 1
        }
        guard case .leaf(let pattern, let indices) = node else { return nil }
        return (pattern, indices)
    }

    private static func match(_ found: StylePattern.Match, _ indices: [Int]) -> Match? {
        guard let range = found[0] else { return nil }
        let group = indices.indices.first { $0 + 1 < found.count && found[$0 + 1] != nil }
        return Match(range: range, index: group.map { indices[$0] } ?? 0)
    }
}
