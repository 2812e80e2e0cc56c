/// The common parts of two sequences, in the same order.
enum LongestCommon {
    /// The positions of a longest common subsequence, in both. Quadratic time in the worst case.
    static func pairs<Element: Equatable>(_ old: [Element], _ new: [Element]) -> [(Int, Int)] {
        guard !old.isEmpty, !new.isEmpty else { return [] }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        return Array(zip(old.indices.filter { !removed.contains($0) }, new.indices.filter { !inserted.contains($0) }))
    }
}
