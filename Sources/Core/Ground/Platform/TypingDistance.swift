/// How many typing errors separate two words.
package enum TypingDistance {
    /// Optimal string alignment: an inserted, missing or replaced letter, and a swap of neighbours, cost 1 each.
    package static func between(_ left: [Character], _ right: [Character]) -> Int {
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
