/// Finds a pattern in a text with a limited number of errors (Levenshtein), using Myers' bit-parallel algorithm in
/// blocks of 64 (Hyyrö 2003): time grows with the text's length times an eighth of the pattern's bytes.
enum ApproximateSearch {
    struct Hit: Equatable {
        var range: Range<Int>
        var errors: Int
    }

    /// The best hit of every neighbourhood: hits that overlap a better one are left out.
    static func hits(
        of pattern: ArraySlice<Unicode.Scalar>, in text: [Unicode.Scalar], atMost limit: Int
    ) -> [Hit] {
        guard !pattern.isEmpty, limit < pattern.count else { return [] }
        var hits: [Hit] = []
        // Occurrences end in runs of positions: the best of each run is kept.
        var best: (end: Int, errors: Int)?
        let backwards = Array(pattern.reversed())
        func keep(_ found: (end: Int, errors: Int)) {
            let window = text[max(0, found.end - pattern.count - found.errors)..<found.end]
            let start = found.end - longestMatch(of: backwards, in: Array(window.reversed()), errors: found.errors)
            let hit = Hit(range: start..<found.end, errors: found.errors)
            if let last = hits.last, last.range.overlaps(hit.range) {
                if hit.errors < last.errors { hits[hits.count - 1] = hit }
            } else {
                hits.append(hit)
            }
        }
        scan(pattern, text) { end, errors in
            guard errors <= limit else {
                if let found = best { keep(found) }
                best = nil
                return
            }
            if best.map({ errors < $0.errors }) ?? true { best = (end, errors) }
        }
        if let found = best { keep(found) }
        return hits
    }

    /// Calls `found` for every end position with the fewest errors of a match that ends there.
    private static func scan(
        _ pattern: ArraySlice<Unicode.Scalar>, _ text: [Unicode.Scalar], _ found: (_ end: Int, _ errors: Int) -> Void
    ) {
        let count = pattern.count
        let blocks = (count + 63) / 64
        var masks: [UInt32: Int] = [:]
        var bits: [UInt64] = []
        for (position, scalar) in pattern.enumerated() {
            let row = masks[scalar.value] ?? bits.count / blocks
            if masks[scalar.value] == nil {
                masks[scalar.value] = row
                bits.append(contentsOf: repeatElement(0, count: blocks))
            }
            bits[row * blocks + position / 64] |= 1 << UInt64(position % 64)
        }
        var positive = [UInt64](repeating: .max, count: blocks)
        var negative = [UInt64](repeating: 0, count: blocks)
        let last = UInt64(1) << UInt64((count - 1) % 64)
        var errors = count
        for (index, scalar) in text.enumerated() {
            let row = masks[scalar.value]
            var carryIn = 0
            for block in 0..<blocks {
                var equal = row.map { bits[$0 * blocks + block] } ?? 0
                let pv = positive[block]
                let nv = negative[block]
                let xv = equal | nv
                if carryIn < 0 { equal |= 1 }
                let xh = (((equal & pv) &+ pv) ^ pv) | equal
                var ph = nv | ~(xh | pv)
                var nh = pv & xh
                let top = block == blocks - 1 ? last : UInt64(1) << 63
                let carryOut = (ph & top != 0 ? 1 : 0) - (nh & top != 0 ? 1 : 0)
                ph = ph << 1 | (carryIn > 0 ? 1 : 0)
                nh = nh << 1 | (carryIn < 0 ? 1 : 0)
                positive[block] = nh | ~(xv | ph)
                negative[block] = ph & xv
                carryIn = carryOut
            }
            errors += carryIn
            found(index + 1, errors)
        }
    }

    /// The length of the longest prefix of `window` with the given distance to the whole pattern; if there is none, the
    /// best one.
    private static func longestMatch(of pattern: [Unicode.Scalar], in window: [Unicode.Scalar], errors: Int) -> Int {
        let row = EditDistance.lastRow(pattern, window)
        return row.lastIndex { $0 <= errors } ?? row.indices.min { row[$0] < row[$1] } ?? 0
    }
}

/// Levenshtein distance of short texts.
enum EditDistance {
    /// The distance of `pattern` to each prefix of `text`.
    static func lastRow(_ pattern: [Unicode.Scalar], _ text: [Unicode.Scalar]) -> [Int] {
        var row = Array(0...text.count)
        for (i, scalar) in pattern.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in text.enumerated() {
                let value = min(diagonal + (scalar == other ? 0 : 1), row[j] + 1, row[j + 1] + 1)
                diagonal = row[j + 1]
                row[j + 1] = value
            }
        }
        return row
    }

    /// 1 for equal texts, 0 for texts with nothing in common; 1 for two empty ones.
    static func similarity(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Double {
        let length = max(one.count, other.count)
        guard length > 0 else { return 1 }
        if one == other { return 1 }
        return 1 - Double(lastRow(one, other)[other.count]) / Double(length)
    }
}
