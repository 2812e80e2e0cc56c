extension DraftText {
    /// Whether a range has no words.
    func isBlank(_ range: Range<Int>) -> Bool { scalars[range].allSatisfy(\.properties.isWhitespace) }

    /// A range as a finding shows it: in whole characters, and with a word to find it again by.
    func words(around range: Range<Int>) -> Range<Int> {
        graphemeRange(around: isBlank(range) ? withNeighbour(range) : range)
    }

    /// With the word that it touches, else the one before it on its line, else the one after it.
    private func withNeighbour(_ range: Range<Int>) -> Range<Int> {
        func isBlank(_ offset: Int) -> Bool { scalars[offset].properties.isWhitespace }
        let line = textRange(ofLine: line(at: range.lowerBound))
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > line.lowerBound, isBlank(start - 1) { start -= 1 }
        while end < line.upperBound, isBlank(end) { end += 1 }
        let isAfter = end == range.upperBound && end < line.upperBound && start < range.lowerBound
        if start > line.lowerBound, !isAfter {
            while start > line.lowerBound, !isBlank(start - 1) { start -= 1 }
            return start..<range.upperBound
        }
        while end < line.upperBound, !isBlank(end) { end += 1 }
        return range.lowerBound..<max(end, range.upperBound)
    }
}
