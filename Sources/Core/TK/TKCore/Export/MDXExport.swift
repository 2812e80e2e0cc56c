/// Converts MDX to Markdown by removing imports, exports, elements and expressions.
enum MDXExport {
    static func markdown(_ draft: DraftText) -> String {
        let mask = DraftMask(draft)
        var steps = 0
        let spans = MDXSpans.find(in: draft, isCode: fenced(draft), &steps)
        var next = 0
        var text = String.UnicodeScalarView()
        for line in 0..<draft.lineCount {
            while next < spans.count, spans[next].lines.upperBound < line { next += 1 }
            if next < spans.count, spans[next].lines.contains(line) { continue }
            let range = draft.range(ofLine: line + 1)
            let left = range.filter { ![.html, .template].contains(mask.kind(at: $0)) }
            let isEmptied = left.count < range.count && left.allSatisfy { draft.scalars[$0].properties.isWhitespace }
            if !isEmptied { text.append(contentsOf: left.map { draft.scalars[$0] }) }
        }
        return String(text)
    }

    /// Whether each line is in a fence, where imports are only examples.
    private static func fenced(_ draft: DraftText) -> [Bool] {
        var fence: Unicode.Scalar?
        return (0...draft.lineCount).map { line in
            let words = draft.scalars[draft.textRange(ofLine: line + 1)].drop { $0 == " " || $0 == "\t" }
            let mark = words.first.flatMap { $0 == "`" || $0 == "~" ? $0 : nil }
            guard let mark, words.prefix(3).count == 3, words.prefix(3).allSatisfy({ $0 == mark }) else {
                return fence != nil
            }
            if fence == nil { fence = mark } else if fence == mark { fence = nil }
            return true
        }
    }
}
