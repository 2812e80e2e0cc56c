/// Edits of one text that do not get in each other's way, in the order of the text.
struct ChosenEdits {
    private(set) var edits: [SuggestionApplier.Edit] = []

    /// The most important of those that an edit cannot be made together with.
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

    /// Adds an edit that clashes with none.
    mutating func insert(_ edit: SuggestionApplier.Edit) {
        var index = position(of: edit.range.lowerBound)
        // An insertion stands in front of what begins in the same place.
        while index < edits.count, edits[index].range.lowerBound == edit.range.lowerBound, edits[index].range.isEmpty {
            index += 1
        }
        edits.insert(edit, at: index)
    }

    /// The first edit that begins at or behind an offset.
    private func position(of offset: Int) -> Int {
        var low = 0
        var high = edits.count
        while low < high {
            let middle = (low + high) / 2
            if edits[middle].range.lowerBound < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Two insertions in one place clash as well: nothing says which comes first.
    private static func clash(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.overlaps(other) || one.isEmpty && other.contains(one.lowerBound)
            || other.isEmpty && one.contains(other.lowerBound) || one == other
    }
}
