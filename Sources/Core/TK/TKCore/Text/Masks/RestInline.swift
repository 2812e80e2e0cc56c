/// The inline markup of a block of reStructuredText, by the rules of docutils: a mark opens only behind white space or
/// an opening bracket, and closes only before white space or punctuation. Marks are not nested.
struct RestInline {
    private let scalars: [Unicode.Scalar]
    private let range: Range<Int>
    private var index: Int
    private var found: [LineMask.Span] = []
    /// Marks that are not closed behind a position, nor behind any later one.
    private var unclosed: Set<String> = []
    private var steps = 0

    /// In linear time, in order, without overlaps.
    ///
    /// - Parameter steps: grows by the scalars that are examined in search of closing marks.
    static func spans(in scalars: [Unicode.Scalar], _ range: Range<Int>, _ steps: inout Int) -> [LineMask.Span] {
        var scan = RestInline(scalars: scalars, range: range)
        scan.run()
        steps += scan.steps
        return scan.found
    }

    private init(scalars: [Unicode.Scalar], range: Range<Int>) {
        (self.scalars, self.range, index) = (scalars, range, range.lowerBound)
    }

    private mutating func run() {
        while index < range.upperBound {
            let start = index
            switch scalars[index] {
            case "\\": index += 2
            case "`": starts("``") ? enclosed("``", .code) : enclosed("`", .link)
            case "*": emphasis(starts("**") ? "**" : "*")
            case "|": enclosed("|", .template)
            case ":": role()
            case "[": footnote()
            case "_": reference()
            default: break
            }
            if index == start { index += 1 }
        }
        // A literal block follows.
        let end = range.upperBound - 2
        if end >= range.lowerBound, scalars[end] == ":", scalars[end + 1] == ":",
            found.last.map({ $0.range.upperBound <= end }) ?? true
        {
            found.append(LineMask.Span(range: end..<end + 2, kind: .structure))
        }
    }

    private func starts(_ mark: String, at offset: Int? = nil) -> Bool {
        scalars[(offset ?? index)..<range.upperBound].starts(with: mark.unicodeScalars)
    }

    private mutating func keep(_ start: Int, _ end: Int, _ kind: DraftMask.Kind) {
        found.append(LineMask.Span(range: start..<end, kind: kind))
        index = end
    }

    /// Masks from a mark to the same one, and the reference or role after it.
    private mutating func enclosed(_ mark: String, _ kind: DraftMask.Kind, from start: Int? = nil) {
        let start = start ?? index
        let inside = index + mark.utf8.count
        guard opens(start, inside - start), let close = self.close(mark, behind: inside) else {
            index = inside
            return
        }
        keep(start, kind == .code ? close : suffix(close), kind)
    }

    /// The words are prose. Marks of other kinds among them are text to docutils, but hardly to the author.
    private mutating func emphasis(_ mark: String) {
        let (start, inside) = (index, index + mark.utf8.count)
        guard opens(start, mark.utf8.count), let close = self.close(mark, behind: inside) else {
            index = inside
            return
        }
        if scalars[start..<close].contains("`") { return keep(start, close, .code) }
        keep(start, inside, .markup)
        keep(close - mark.utf8.count, close, .markup)
    }

    /// `:role:` before a back quote.
    private mutating func role() {
        var end = index + 1
        let limit = min(range.upperBound, index + 100)
        while end < limit, isWord(end) || "-+.:_".unicodeScalars.contains(scalars[end]) { end += 1 }
        guard end > index + 2, end < range.upperBound, scalars[end - 1] == ":", scalars[end] == "`" else { return }
        let start = index
        index = end
        enclosed("`", .link, from: start)
    }

    /// `[1]_`, `[#name]_`, `[Citation]_`.
    private mutating func footnote() {
        var end = index + 1
        while end < range.upperBound, isWord(end) || "#*-_.+:".unicodeScalars.contains(scalars[end]) { end += 1 }
        guard end > index + 1, starts("]_", at: end) else {
            index = end
            return
        }
        keep(index, end + 2, .link)
    }

    /// `name_` and `name__`, and the target ``_`text` ``.
    private mutating func reference() {
        let first = max(range.lowerBound, found.last?.range.upperBound ?? 0)
        if starts("_`"), opens(index, 2) {
            let start = index
            index += 1
            return enclosed("`", .link, from: start)
        }
        var end = index
        while end < range.upperBound, scalars[end] == "_" { end += 1 }
        var start = index
        while start > first,
            isWord(start - 1) || isWord(start) && "-_.+:".unicodeScalars.contains(scalars[start - 1])
                || start == index && scalars[start - 1] == "-"
        { start -= 1 }
        guard !isWord(end) else {
            index = end
            return
        }
        keep(start, end, .link)
    }

    // MARK: Where marks count

    private func isWord(_ position: Int) -> Bool {
        range.contains(position)
            && (scalars[position].properties.isAlphabetic || scalars[position].properties.numericType != nil)
    }

    private static let quotes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "'": "'", "<": ">", "(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»",
    ]

    /// Whether a mark may open: words follow directly, and none are before it. A mark in quotes stands for itself.
    private func opens(_ start: Int, _ count: Int) -> Bool {
        let next = start + count
        guard next < range.upperBound, !scalars[next].properties.isWhitespace else { return false }
        guard start > range.lowerBound else { return true }
        let before = scalars[start - 1]
        if Self.quotes[before] == scalars[next] { return false }
        return before.properties.isWhitespace || "-/:'\"<([{".unicodeScalars.contains(before)
            || before.value > 127 && !before.properties.isAlphabetic
    }

    /// The end of the closing mark.
    private mutating func close(_ mark: String, behind inside: Int) -> Int? {
        guard !unclosed.contains(mark) else { return nil }
        let first = mark.unicodeScalars.first
        var position = inside + 1
        while position < range.upperBound {
            if scalars[position] == first, starts(mark, at: position), !scalars[position - 1].properties.isWhitespace,
                mark == "``" || scalars[position - 1] != "\\"
            {
                let end = position + mark.utf8.count
                if closes(before: mark == "``" || mark.hasPrefix("*") ? end : suffix(end)) { return end }
            }
            position += 1
            steps += 1
        }
        unclosed.insert(mark)
        return nil
    }

    private func closes(before end: Int) -> Bool {
        guard end < range.upperBound else { return true }
        let after = scalars[end]
        return after.properties.isWhitespace || "-/:.,;!?'\")]}>\\".unicodeScalars.contains(after)
            || after.value > 127 && !after.properties.isAlphabetic
    }

    /// After the `_`, `__` or `:role:` behind a closing mark.
    private func suffix(_ close: Int) -> Int {
        var end = close
        while end < min(range.upperBound, close + 2), scalars[end] == "_" { end += 1 }
        guard end == close, end < range.upperBound, scalars[end] == ":" else { return end }
        var name = end + 1
        while name < min(range.upperBound, end + 100), isWord(name) || "-+._".unicodeScalars.contains(scalars[name]) {
            name += 1
        }
        return name > end + 1 && name < range.upperBound && scalars[name] == ":" ? name + 1 : end
    }
}
