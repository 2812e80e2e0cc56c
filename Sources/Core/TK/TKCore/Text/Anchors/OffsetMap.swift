/// Carries positions of an old text over to a new one by comparing the two.
///
/// Lines are compared by those that occur once in both (patience), and what lies between by words. A range is carried
/// over only if it survived whole with a neighbourhood large enough, on either side, not to be a coincidence.
public struct OffsetMap: Sendable {
    /// Equal stretches, in order.
    private let runs: [(old: Int, new: Int, count: Int)]
    private let oldCount: Int

    /// A run that is shorter, and does not lie between whole equal lines, may be a coincidence.
    private static let shortestRun = 24
    /// A range that is nearer to an end of its run, but for the text's own, may be a twin's: where something was put in or
    /// taken out beside equal words, the comparison cannot tell which of them stayed.
    private static let shortestSide = 12
    /// Stretches with more words than this on a side are taken to have changed altogether.
    private static let mostWords = 1_500

    /// Compares two texts; see the type for how.
    public init(from old: DraftText, to new: DraftText) {
        oldCount = old.count
        let words = Interner()
        let oldLines = (1...old.lineCount).map { old.range(ofLine: $0) }
        let newLines = (1...new.lineCount).map { new.range(ofLine: $0) }
        let oldNames = oldLines.map { words.name(old.scalars[$0]) }
        let newNames = newLines.map { words.name(new.scalars[$0]) }
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
            let one = oldWords.map { words.name(old.scalars[$0]) }
            let other = newWords.map { words.name(new.scalars[$0]) }
            for (i, j) in LongestCommon.pairs(one, other) { add(oldWords[i], newWords[j]) }
        }
        Self.patience(oldNames, newNames) { match in
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

    /// The range's place in the new text; nil where it was changed, or where its survival could be a coincidence.
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

    private enum Match {
        case equal(Int, Int)
        case gap(Range<Int>, Range<Int>)
    }

    /// Gives lines numbers, the same to equal ones.
    private final class Interner {
        private var names: [[Unicode.Scalar]: Int] = [:]

        func name(_ text: ArraySlice<Unicode.Scalar>) -> Int {
            let key = Array(text)
            if let name = names[key] { return name }
            names[key] = names.count
            return names.count - 1
        }
    }

    /// Patience comparison: equal ends, then lines that are unique on both sides, then what lies between these.
    private static func patience(_ old: [Int], _ new: [Int], _ found: (Match) -> Void) {
        var pending: [(old: Range<Int>, new: Range<Int>)] = [(0..<old.count, 0..<new.count)]
        while let (oldRange, newRange) = pending.popLast() {
            var oldRest = oldRange
            var newRest = newRange
            while let i = oldRest.first, let j = newRest.first, old[i] == new[j] {
                found(.equal(i, j))
                oldRest.removeFirst()
                newRest.removeFirst()
            }
            var tail = 0
            while let i = oldRest.last, let j = newRest.last, old[i] == new[j] {
                oldRest.removeLast()
                newRest.removeLast()
                tail += 1
            }
            if tail > 0 {
                pending.append(
                    (oldRest.upperBound..<oldRest.upperBound + tail, newRest.upperBound..<newRest.upperBound + tail))
            }
            if oldRest.isEmpty || newRest.isEmpty { continue }
            let anchors = uniquePairs(old, oldRest, new, newRest)
            if anchors.isEmpty {
                found(.gap(oldRest, newRest))
                continue
            }
            // From the last to the first, since the stack gives them back the other way round.
            var oldEnd = oldRest.upperBound
            var newEnd = newRest.upperBound
            for (i, j) in anchors.reversed() {
                pending.append((i..<oldEnd, j..<newEnd))
                oldEnd = i
                newEnd = j
            }
            pending.append((oldRest.lowerBound..<oldEnd, newRest.lowerBound..<newEnd))
        }
    }

    /// Lines that occur once on either side, in an order that both sides share.
    private static func uniquePairs(
        _ old: [Int], _ oldRange: Range<Int>, _ new: [Int], _ newRange: Range<Int>
    ) -> [(Int, Int)] {
        var places: [Int: (old: Int, new: Int, oldCount: Int, newCount: Int)] = [:]
        for i in oldRange {
            places[old[i], default: (0, 0, 0, 0)].old = i
            places[old[i], default: (0, 0, 0, 0)].oldCount += 1
        }
        for j in newRange where places[new[j]] != nil {
            places[new[j], default: (0, 0, 0, 0)].new = j
            places[new[j], default: (0, 0, 0, 0)].newCount += 1
        }
        let pairs = places.values.filter { $0.oldCount == 1 && $0.newCount == 1 }.map { ($0.old, $0.new) }
            .sorted { $0.0 < $1.0 }
        return longestRising(pairs)
    }

    /// The longest subsequence whose second numbers rise (patience sorting).
    private static func longestRising(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
        var tops: [Int] = []
        var before = [Int?](repeating: nil, count: pairs.count)
        for (index, pair) in pairs.enumerated() {
            var low = 0
            var high = tops.count
            while low < high {
                let middle = (low + high) / 2
                if pairs[tops[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? tops[low - 1] : nil
            if low == tops.count { tops.append(index) } else { tops[low] = index }
        }
        var rising: [(Int, Int)] = []
        var next = tops.last
        while let index = next {
            rising.append(pairs[index])
            next = before[index]
        }
        return rising.reversed()
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
