/// Compatible edits of one text, in text order.
struct ChosenEdits {
    private(set) var edits: [SuggestionApplier.Edit] = []

    /// The most important of the edits that conflict with this one.
    func clashing(with edit: SuggestionApplier.Edit) -> SuggestionApplier.Edit? {
        var index = max(0, position(of: edit.range.lowerBound) - 1)
        var found: SuggestionApplier.Edit?
        while index < edits.count, edits[index].range.lowerBound <= edit.range.upperBound {
            if Self.clash(edits[index].range, edit.range), edits[index].rank < found?.rank ?? .max {
                found = edits[index]
            }
            index += 1
        }
        return found
    }

    /// Inserts an edit without conflicts.
    mutating func insert(_ edit: SuggestionApplier.Edit) {
        var index = position(of: edit.range.lowerBound)
        // An insertion comes before an edit that begins at the same place.
        while index < edits.count, edits[index].range.lowerBound == edit.range.lowerBound, edits[index].range.isEmpty {
            index += 1
        }
        edits.insert(edit, at: index)
    }

    /// The first edit that begins at or after an offset.
    private func position(of offset: Int) -> Int {
        var low = 0
        var high = edits.count
        while low < high {
            let middle = (low + high) / 2
            if edits[middle].range.lowerBound < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Two insertions at one place conflict as well: their order is undefined.
    private static func clash(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.overlaps(other) || one.isEmpty && other.contains(one.lowerBound)
            || other.isEmpty && one.contains(other.lowerBound) || one == other
    }
}
