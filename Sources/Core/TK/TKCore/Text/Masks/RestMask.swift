extension MaskBuilder {
    /// reStructuredText: literal blocks, directives except admonitions, comments, tables, fields and targets are not
    /// prose.
    mutating func maskRestructuredText() {
        let lines = LineMask(draft: draft)
        var reader = RestLines(lines: lines)
        lines.run(&self, { reader.read($0, $1, $2) }, { RestLines.marks.spans(in: lines.scalars, $0, &$1) })
    }
}

/// Classifies the lines of a reStructuredText document.
private struct RestLines {
    let lines: LineMask
    /// Lines indented deeper than this are kept, with this kind.
    private var block: (indent: Int, kind: DraftMask.Kind)?
    /// The indentation of a paragraph that ends in `::`: deeper lines after it are literal.
    private var announced: Int?
    private var isTable = false
    private var isDoctest = false

    init(lines: LineMask) { self.lines = lines }

    /// Directives whose content is the author's prose.
    private static let prose: Set<String> = [
        "note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso",
        "admonition",
        "topic", "sidebar", "versionadded", "versionchanged", "deprecated", "rubric", "container", "centered", "todo",
        "epigraph", "highlights", "pull-quote", "compound", "figure",
    ]

    mutating func read(_ line: Int, _ text: Range<Int>, _ usual: LineMask.Line) -> LineMask.Line {
        if text.isEmpty {
            isDoctest = false
            return .blank
        }
        let inside = lines.trimmed(text)
        let indent = inside.lowerBound - text.lowerBound
        if let open = block {
            if indent > open.indent { return .kept(open.kind) }
            block = nil
        }
        if let above = announced {
            announced = nil
            if indent > above {
                block = (above, .code)
                return .kept(.code)
            }
        }
        let content = lines.text(inside)
        if isDoctest || content.hasPrefix(">>> ") {
            isDoctest = true
            return .kept(.code)
        }
        if isTable || isBorder(content) {
            let isLast = isBorder(content) && isTable && isBlank(line + 1)
            isTable = !isLast
            return .kept(.structure)
        }
        if content.hasPrefix("+-") || content.hasPrefix("+=") || content.hasPrefix("|") { return .kept(.structure) }
        if content == ".." || content.hasPrefix(".. ") { return markup(content, indent, inside) }
        if content.hasPrefix("__ ") { return .kept(.link) }
        if content.contains(/^:[^:\s][^:]*:( |$)/) { return .kept(.structure) }
        if lines.isRun(inside, of: "=-~^\"'#*+.:_`", atLeast: 2) { return .kept(.structure) }
        if content.hasSuffix("::") { announced = indent }
        if let item = lines.item(inside, bullets: "-*+•#.") { return .item(item) }
        return .prose(inside)
    }

    /// A directive, a comment, a target or a footnote.
    private mutating func markup(_ content: String, _ indent: Int, _ text: Range<Int>) -> LineMask.Line {
        let rest = content.dropFirst(3)
        if rest.hasPrefix("_") {
            block = (indent, .link)
            return .kept(.link)
        }
        if rest.hasPrefix("["), let end = lines.scalars[text].firstIndex(of: "]") {
            return .item(lines.trimmed(end + 1..<text.upperBound))
        }
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == ":" || $0 == "." }
        guard name.hasSuffix("::"), Self.prose.contains(String(name.dropLast(2))) else {
            block = (indent, rest.hasPrefix("math::") ? .math : .code)
            return .kept(.code)
        }
        return .kept(.structure)
    }

    /// The border of a simple table: columns of `=`.
    private func isBorder(_ content: String) -> Bool {
        content.hasPrefix("==") && content.contains(" ") && content.allSatisfy { $0 == "=" || $0 == " " }
    }

    private func isBlank(_ line: Int) -> Bool {
        lines.draft.textRange(ofLine: line).allSatisfy { lines.scalars[$0].properties.isWhitespace }
    }

    static let marks = MarkScan(
        pairs: [
            .init(open: "``", close: "``", kind: .code), .init(open: "`", close: "`", kind: .link),
            .init(open: "|", close: "|", kind: .template, isTight: true),
        ],
        other: { index, scalars, range, brackets in
            func isWord(_ index: Int) -> Bool {
                range.contains(index)
                    && (scalars[index].properties.isAlphabetic || scalars[index].properties.numericType != nil)
            }
            switch scalars[index] {
            case ":":
                // `:role:` before a back quote.
                var end = index + 1
                while isWord(end) || range.contains(end) && "-+.:_".unicodeScalars.contains(scalars[end]) {
                    end += 1
                }
                guard end > index + 2, scalars[end - 1] == ":", range.contains(end), scalars[end] == "`" else {
                    // A literal block follows.
                    let isEnd = range.contains(index + 1) && scalars[index + 1] == ":" && index + 2 == range.upperBound
                    return isEnd ? LineMask.Span(range: index..<index + 2, kind: .structure) : nil
                }
                return LineMask.Span(range: index..<end, kind: .link)
            case "[":
                guard let end = brackets.end(of: index, scalars), range.contains(end), scalars[end] == "_"
                else { return nil }
                return LineMask.Span(range: index..<end + 1, kind: .link)
            case "_":
                var end = index
                while range.contains(end), scalars[end] == "_" { end += 1 }
                guard !isWord(end) else { return nil }
                var start = index
                while isWord(start - 1) || range.contains(start - 1) && scalars[start - 1] == "-" { start -= 1 }
                return LineMask.Span(range: start..<end, kind: .link)
            default: return nil
            }
        })
}
