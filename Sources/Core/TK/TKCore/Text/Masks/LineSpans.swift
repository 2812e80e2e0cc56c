/// Stretches of whole lines that are not Markdown and would be misread.
struct LineSpans {
    var lines: ClosedRange<Int>
    var kind: DraftMask.Kind

    /// Longer stretches count as an unclosed opening.
    private static let limit = 400

    /// Display math between lines `$$`, Obsidian's comments between lines `%%`, and the text between
    /// `{% highlight %}` or `{% raw %}` and its end.
    static func find(in draft: DraftText, isCode: [Bool]) -> [LineSpans] {
        var spans: [LineSpans] = []
        var line = 0
        // There is no closing before this line; many openings cost no more than one.
        var searched: [String: Int] = [:]
        while line < draft.lineCount {
            defer { line += 1 }
            guard !isCode[line], let opening = opening(draft, line) else { continue }
            var end = max(line + 1, searched[opening.closing] ?? 0)
            defer { searched[opening.closing] = end }
            while end < min(draft.lineCount, line + limit) {
                if opening.isClosed(by: trimmed(draft, end)) { break }
                end += 1
            }
            guard end < min(draft.lineCount, line + limit) else { continue }
            spans.append(LineSpans(lines: line...end, kind: opening.kind))
            line = end
        }
        return spans
    }

    private struct Opening {
        var kind: DraftMask.Kind
        var closing: String

        func isClosed(by line: String) -> Bool {
            switch closing {
            case "$$": line.hasSuffix(closing)
            case "%%": line.contains(closing)
            default: line.hasPrefix("{%") && line.contains(closing)
            }
        }
    }

    private static func opening(_ draft: DraftText, _ line: Int) -> Opening? {
        let range = draft.textRange(ofLine: line + 1)
        guard let first = draft.scalars[range].first(where: { $0 != " " && $0 != "\t" }),
            first == "$" || first == "{" || first == "%"
        else { return nil }
        let text = trimmed(draft, line)
        if text == "$$" || (text.hasPrefix("$$") && !text.dropFirst(2).contains("$$")) {
            return Opening(kind: .math, closing: "$$")
        }
        if draft.syntax == .markdown, text.hasPrefix("%%"), !text.dropFirst(2).contains("%%") {
            return Opening(kind: .html, closing: "%%")
        }
        guard text.hasPrefix("{%") else { return nil }
        for name in ["highlight", "raw", "mermaid", "codeblock"]
        where text.contains(" \(name)") && !text.contains("end\(name)") {
            return Opening(kind: name == "raw" ? .template : .code, closing: "end\(name)")
        }
        return nil
    }

    private static func trimmed(_ draft: DraftText, _ line: Int) -> String {
        var text = draft.textRange(ofLine: line + 1)
        while let first = text.first, draft.scalars[first].isBlank { text.removeFirst() }
        while let last = text.last, draft.scalars[last].isBlank { text.removeLast() }
        return draft[text]
    }
}

extension Unicode.Scalar {
    /// A space or a tab.
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
