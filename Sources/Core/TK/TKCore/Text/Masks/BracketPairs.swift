/// The pairs of brackets in a range. Each kind of bracket is read once, when it is first asked for: a search from every
/// opening bracket would take quadratic time where none is closed.
struct BracketPairs {
    private let range: Range<Int>
    /// By opening mark: the end of each pair by its start.
    private var ends: [Unicode.Scalar: [Int: Int]] = [:]
    /// The scalars that were examined.
    private(set) var steps = 0

    init(_ range: Range<Int>) { self.range = range }

    /// The end of the pair that opens at an index, which may contain other pairs; nil if it is not closed within this
    /// many scalars. A backslash makes the next scalar text.
    mutating func end(of open: Int, _ scalars: [Unicode.Scalar], limit: Int = 1_000) -> Int? {
        let mark = scalars[open]
        if ends[mark] == nil {
            ends[mark] = read(mark, scalars)
            steps += range.count
        }
        return ends[mark]?[open].flatMap { $0 - open <= limit ? $0 : nil }
    }

    private func read(_ mark: Unicode.Scalar, _ scalars: [Unicode.Scalar]) -> [Int: Int] {
        let closing: Unicode.Scalar = mark == "[" ? "]" : mark == "{" ? "}" : mark == "(" ? ")" : ">"
        var found: [Int: Int] = [:]
        var open: [Int] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if scalars[index] == "\\" {
                index += 2
                continue
            }
            if scalars[index] == mark {
                open.append(index)
            } else if scalars[index] == closing, let start = open.popLast() {
                found[start] = index + 1
            }
            index += 1
        }
        return found
    }
}
