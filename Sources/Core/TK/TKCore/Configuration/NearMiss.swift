import Platform

/// Suggestions for mistyped names.
package enum NearMiss {
    /// Up to three of the candidates closest to `word`, differing in at most a third of its letters, or else those that
    /// begin with it. Ignores case, and treats `-` and a space like `_`.
    package static func of(_ word: String, among candidates: some Sequence<String>) -> [String] {
        let plain = normal(word)
        guard !plain.isEmpty, plain.count <= 64 else { return [] }
        let limit = max(1, (plain.count + 1) / 3)
        let near = candidates.compactMap { name -> (name: String, distance: Int)? in
            let other = normal(name)
            let distance = TypingDistance.between(plain, other)
            if distance <= limit { return (name, distance) }
            return plain.count >= 3 && other.starts(with: plain) ? (name, limit + 1) : nil
        }
        let least = near.map(\.distance).min()
        return near.filter { $0.distance == least }.map(\.name).sorted().prefix(3).map { $0 }
    }

    /// A sentence for a message: the suggestions, or else all candidates.
    package static func hint(for word: String, among candidates: [String]) -> String {
        let near = of(word, among: candidates)
        if !near.isEmpty { return "did you mean \(near.map { "`\($0)`" }.joined(separator: " or "))?" }
        return "known are " + candidates.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func normal(_ word: String) -> [Character] {
        word.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 }
    }
}
