/// Which lines of two texts are equal.
enum LineComparison {
    enum Match {
        case equal(Int, Int)
        /// No line here is unique in both; neither side is empty.
        case gap(Range<Int>, Range<Int>)
    }

    /// A patience diff: equal ends, then lines that are unique on both sides, then the gaps between these.
    ///
    /// - Parameter found: receives equal and unequal ranges, in order.
    static func compare(_ old: [Int], _ new: [Int], _ found: (Match) -> Void) {
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
            // From last to first, because the stack reverses them.
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

    /// Lines that are unique on either side, in an order common to both.
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

    /// The longest subsequence whose second numbers increase (patience sorting).
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
}

/// Assigns numbers to lines and words, equal ones to equal texts, for faster comparisons.
struct Numbering<Text: Hashable> {
    private var numbers: [Text: Int] = [:]

    mutating func number(_ text: Text) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = numbers.count
        return numbers.count - 1
    }
}
