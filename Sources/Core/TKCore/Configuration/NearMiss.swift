/// Names that somebody may have meant.
package enum NearMiss {
    /// The nearest of the candidates that differ from `word` in at most a third of its letters, else those that begin
    /// with it; at most three. Case counts for nothing, nor does `-` or a space for `_`.
    package static func of(_ word: String, among candidates: some Sequence<String>) -> [String] {
        let plain = normal(word)
        guard !plain.isEmpty, plain.count <= 64 else { return [] }
        let limit = max(1, (plain.count + 1) / 3)
        let near = candidates.compactMap { name -> (name: String, distance: Int)? in
            let other = normal(name)
            let distance = distance(plain, other)
            if distance <= limit { return (name, distance) }
            return plain.count >= 3 && other.starts(with: plain) ? (name, limit + 1) : nil
        }
        let least = near.map(\.distance).min()
        return near.filter { $0.distance == least }.map(\.name).sorted().prefix(3).map { $0 }
    }

    /// A sentence for a message: what was meant, else what there is.
    package static func hint(for word: String, among candidates: [String]) -> String {
        let near = of(word, among: candidates)
        if !near.isEmpty { return "did you mean \(near.map { "`\($0)`" }.joined(separator: " or "))?" }
        return "known are " + candidates.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func normal(_ word: String) -> [Character] {
        word.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 }
    }

    /// Letters inserted, missing or replaced, and neighbours that changed places, cost 1 each.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
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
