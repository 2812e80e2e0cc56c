extension [Range<Int>] {
    /// Of ranges in order and without overlaps, the first that does not end before a position or at it; nil if all do.
    func first(beyond position: Int) -> Range<Int>? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound <= position { low = middle + 1 } else { high = middle }
        }
        return low < count ? self[low] : nil
    }
}
