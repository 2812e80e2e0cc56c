import Platform

/// Suggestions for misspelled words.
package enum Suggest {
    /// The candidate closest to `word`, if no more than about a third of the letters differ. Ignores case; `_` equals
    /// `-`.
    package static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let plain = normal(word)
        guard !plain.isEmpty, plain.count <= 64 else { return nil }
        let limit = max(1, (plain.count + 1) / 3)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = TypingDistance.between(plain, normal(candidate))
            if distance <= limit, distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// ``closest(to:among:)`` as a hint; if none is close, the list of names, unless it is long.
    package static func hint(for word: String, among candidates: [String]) -> String? {
        if let near = closest(to: word, among: candidates) { return "did you mean `\(near)`?" }
        guard !candidates.isEmpty, candidates.count <= 20 else { return nil }
        return "known: " + candidates.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func normal(_ word: String) -> [Character] {
        word.lowercased().map { $0 == "_" ? "-" : $0 }
    }
}
