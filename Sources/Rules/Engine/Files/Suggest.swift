/// Finds what somebody meant to write.
package enum Suggest {
    /// The candidate that is nearest to `word`, if it is near enough to be meant: about a third of the letters
    /// may differ. Case and `_` for `-` count for nothing.
    package static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let plain = normal(word)
        guard !plain.isEmpty, plain.count <= 64 else { return nil }
        let limit = max(1, (plain.count + 1) / 3)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(plain, normal(candidate))
            if distance <= limit, distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// ``closest(to:among:)`` as a diagnostic's hint; without a near one, the names there are, if they are few.
    package static func hint(for word: String, among candidates: [String]) -> String? {
        if let near = closest(to: word, among: candidates) { return "did you mean `\(near)`?" }
        guard !candidates.isEmpty, candidates.count <= 16 else { return nil }
        return "known: " + candidates.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func normal(_ word: String) -> [Character] {
        word.lowercased().map { $0 == "_" ? "-" : $0 }
    }

    /// Optimal string alignment: inserted, missing, replaced letters, and neighbours that changed places, cost 1 each.
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var older: [Int] = []
        var old = Array(0...right.count)
        for row in 1...left.count {
            var new = [row]
            for column in 1...right.count {
                let same = left[row - 1] == right[column - 1]
                var cost = min(old[column] + 1, new[column - 1] + 1, old[column - 1] + (same ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, older[column - 2] + 1)
                }
                new.append(cost)
            }
            (older, old) = (old, new)
        }
        return old[right.count]
    }
}
