/// Finds the metadata at the beginning of a document.
enum FrontMatter {
    /// The lines of YAML (`---` to `---` or `...`) or TOML (`+++` to `+++`) front matter, counted from 0. A thematic break
    /// is no front matter: the next line has to be a key, a comment or the closing fence.
    static func lines(of draft: DraftText) -> ClosedRange<Int>? {
        guard let first = line(0, of: draft) else { return nil }
        let closing: [String]
        switch first.hasPrefix("\u{FEFF}") ? String(first.unicodeScalars.dropFirst()) : first {
        case "---": closing = ["---", "..."]
        case "+++": closing = ["+++"]
        default: return nil
        }
        var hasKey = false
        var number = 1
        while let text = line(number, of: draft) {
            if closing.contains(text) { return hasKey || number == 1 ? 0...number : nil }
            if number == 1, text.isEmpty { return nil }
            hasKey = hasKey || text.contains(":") || text.contains("=") || text.hasPrefix("#") || text.hasPrefix("-")
            number += 1
        }
        return nil
    }

    /// A line without white space at its end.
    private static func line(_ number: Int, of draft: DraftText) -> String? {
        guard number < draft.lineCount else { return nil }
        var text = draft[draft.textRange(ofLine: number + 1)]
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

/// Stretches of whole lines that Markdown knows nothing of and would misread.
struct LineSpans {
    var lines: ClosedRange<Int>
    var kind: DraftMask.Kind

    /// Longer stretches are taken for an unclosed opening.
    private static let limit = 400

    /// Display math between lines `$$`, and what stands between `{% highlight %}` or `{% raw %}` and its end.
    static func find(in draft: DraftText, isCode: [Bool]) -> [LineSpans] {
        var spans: [LineSpans] = []
        var line = 0
        // The lines before this one do not hold the closing; so many openings cost no more than one.
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
            kind == .math ? line.hasSuffix("$$") : line.hasPrefix("{%") && line.contains(closing)
        }
    }

    private static func opening(_ draft: DraftText, _ line: Int) -> Opening? {
        let range = draft.textRange(ofLine: line + 1)
        guard let first = draft.scalars[range].first(where: { $0 != " " && $0 != "\t" }), first == "$" || first == "{"
        else {
            return nil
        }
        let text = trimmed(draft, line)
        if text == "$$" || (text.hasPrefix("$$") && !text.dropFirst(2).contains("$$")) {
            return Opening(kind: .math, closing: "$$")
        }
        guard text.hasPrefix("{%") else { return nil }
        for name in ["highlight", "raw", "mermaid", "codeblock"]
        where text.contains(" \(name)") && !text.contains("end\(name)") {
            return Opening(kind: name == "raw" ? .template : .code, closing: "end\(name)")
        }
        return nil
    }

    private static func trimmed(_ draft: DraftText, _ line: Int) -> String {
        var text = draft.scalars[draft.textRange(ofLine: line + 1)]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(String.UnicodeScalarView(text))
    }
}
