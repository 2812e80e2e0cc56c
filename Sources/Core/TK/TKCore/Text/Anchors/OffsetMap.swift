/// Maps positions of an old text to a new one by comparing the two.
///
/// Lines are compared by those that are unique in both (patience), and the gaps between them by words. A range is
/// mapped only if it survived unchanged with a context large enough, on either side, not to be a coincidence.
public struct OffsetMap: Sendable {
    /// Equal stretches, in order.
    private let runs: [(old: Int, new: Int, count: Int)]
    private let oldCount: Int

    /// A shorter run that is not between whole equal lines may be a coincidence.
    private static let shortestRun = 24
    /// A range closer to an end of its run, other than the text's own, may belong to a twin: if an insertion or
    /// deletion is next to equal words, the comparison cannot tell which of them stayed.
    private static let shortestSide = 12
    /// Longer stretches, in words, count as changed entirely.
    private static let mostWords = 1_500

    /// Compares two texts; see the type for the method.
    public init(from old: DraftText, to new: DraftText) {
        oldCount = old.count
        var words = Numbering<[Unicode.Scalar]>()
        let oldLines = (1...old.lineCount).map { old.range(ofLine: $0) }
        let newLines = (1...new.lineCount).map { new.range(ofLine: $0) }
        let oldNames = oldLines.map { words.number(Array(old.scalars[$0])) }
        let newNames = newLines.map { words.number(Array(new.scalars[$0])) }
        var found: [(old: Int, new: Int, count: Int)] = []
        func add(_ old: Range<Int>, _ new: Range<Int>) {
            if let last = found.last, last.old + last.count == old.lowerBound, last.new + last.count == new.lowerBound {
                found[found.count - 1].count += old.count
            } else if !old.isEmpty {
                found.append((old.lowerBound, new.lowerBound, old.count))
            }
        }
        func compareWords(_ oldRange: Range<Int>, _ newRange: Range<Int>) {
            let oldWords = Self.words(of: old.scalars, oldRange)
            let newWords = Self.words(of: new.scalars, newRange)
            guard oldWords.count <= Self.mostWords, newWords.count <= Self.mostWords else { return }
            let one = oldWords.map { words.number(Array(old.scalars[$0])) }
            let other = newWords.map { words.number(Array(new.scalars[$0])) }
            for (i, j) in LongestCommon.pairs(one, other) { add(oldWords[i], newWords[j]) }
        }
        LineComparison.compare(oldNames, newNames) { match in
            switch match {
            case .equal(let i, let j): add(oldLines[i], newLines[j])
            case .gap(let oldGap, let newGap):
                guard let oldFirst = oldGap.first, let newFirst = newGap.first else { return }
                compareWords(
                    oldLines[oldFirst].lowerBound..<oldLines[oldGap.upperBound - 1].upperBound,
                    newLines[newFirst].lowerBound..<newLines[newGap.upperBound - 1].upperBound)
            }
        }
        runs = found
    }

    /// The range's place in the new text; nil if it was changed, or if its survival could be a coincidence.
    public func range(of old: Range<Int>) -> Range<Int>? {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].old + runs[middle].count <= old.lowerBound { low = middle + 1 } else { high = middle }
        }
        guard low < runs.count else { return nil }
        let run = runs[low]
        guard run.old <= old.lowerBound, old.upperBound <= run.old + run.count else { return nil }
        let end = run.old + run.count
        guard run.count - old.count >= Self.shortestRun || run.count == oldCount,
            run.old == 0 || old.lowerBound - run.old >= Self.shortestSide,
            end == oldCount || end - old.upperBound >= Self.shortestSide
        else { return nil }
        let start = run.new + old.lowerBound - run.old
        return start..<start + old.count
    }

    /// The words and the single scalars between them.
    private static func words(of scalars: [Unicode.Scalar], _ range: Range<Int>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = range.lowerBound
        func isWord(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        }
        while start < range.upperBound {
            var end = start + 1
            if isWord(scalars[start]) { while end < range.upperBound, isWord(scalars[end]) { end += 1 } }
            words.append(start..<end)
            start = end
        }
        return words
    }
}
