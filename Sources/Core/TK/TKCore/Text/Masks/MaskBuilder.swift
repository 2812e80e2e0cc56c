/// Classifies each scalar of a draft: first the blocks, as parsed by cmark-gfm, then the inline spans of each.
struct MaskBuilder {
    let draft: DraftText
    let scalars: [Unicode.Scalar]
    var kinds: [DraftMask.Kind]
    var blocks: [DraftMask.Block] = []
    /// The ranges of `<!-- … -->`, outside code.
    var comments: [Range<Int>] = []
    private(set) var topLevel: [ClosedRange<Int>] = []
    /// The scalars that were examined in search of closing marks.
    var steps = 0

    init(_ draft: DraftText) {
        self.draft = draft
        scalars = draft.scalars
        kinds = Array(repeating: .markup, count: scalars.count)
    }

    mutating func paint(_ range: Range<Int>, _ kind: DraftMask.Kind) {
        for index in range.clamped(to: 0..<kinds.count) { kinds[index] = kind }
    }

    /// Paints lines, inclusive; of the first only the part after `indent` bytes.
    private mutating func paint(lines: ClosedRange<Int>, indent: Int = 0, _ kind: DraftMask.Kind) {
        let start = scalarOffset(line: lines.lowerBound, indent: indent)
        let end = draft.range(ofLine: lines.upperBound + 1).upperBound
        if start < end { paint(start..<end, kind) }
    }

    private func scalarOffset(line: Int, indent: Int) -> Int {
        let range = draft.textRange(ofLine: line + 1)
        var offset = range.lowerBound
        var bytes = 0
        while offset < range.upperBound, bytes < indent {
            bytes += UTF8.width(scalars[offset])
            offset += 1
        }
        return offset
    }

    mutating func maskMarkdown() {
        let frontMatter = FrontMatter.lines(of: draft)
        if let frontMatter { paint(lines: frontMatter, .frontMatter) }
        var hidden: [ClosedRange<Int>] = frontMatter.map { [$0] } ?? []
        var found = parse(without: hidden)
        var isCode = Array(repeating: false, count: draft.lineCount + 1)
        for block in found.blocks where block.kind == .code {
            for line in block.lines where line < isCode.count { isCode[line] = true }
        }
        // Math and templates that span several blocks would be read as Markdown: cmark gets blank lines instead.
        var spans = LineSpans.find(in: draft, isCode: isCode)
        if draft.syntax == .mdx {
            var isTaken = Array(repeating: false, count: draft.lineCount + 1)
            for line in spans.flatMap(\.lines) { isTaken[line] = true }
            spans += MDXSpans.find(in: draft, isCode: isCode, &steps).filter { !$0.lines.contains { isTaken[$0] } }
        }
        if !spans.isEmpty {
            hidden += spans.map(\.lines)
            found = parse(without: hidden)
        }
        topLevel = found.topLevel
        for block in found.blocks { mask(block) }
        if let frontMatter { paint(lines: frontMatter, .frontMatter) }
        for span in spans { paint(lines: span.lines, span.kind) }
    }

    private func parse(without hidden: [ClosedRange<Int>]) -> MarkdownBlocks {
        var bytes = Array(draft.string.utf8)
        for lines in hidden {
            let start = draft.utf8Offset(of: draft.range(ofLine: lines.lowerBound + 1).lowerBound)
            let end = draft.utf8Offset(of: draft.range(ofLine: lines.upperBound + 1).upperBound)
            for index in start..<end where bytes[index] != 10 && bytes[index] != 13 { bytes[index] = 32 }
        }
        ContainerMarks.blankDeepLines(&bytes)
        return MarkdownBlocks(bytes) { isCallout(line: $0) }
    }

    /// Whether a line opens a callout: `> [!NOTE]`.
    private func isCallout(line: Int) -> Bool {
        var rest = scalars[draft.textRange(ofLine: line + 1)]
        while let first = rest.first, first == " " || first == "\t" || first == ">" || first == "-" {
            rest.removeFirst()
        }
        return rest.starts(with: "[!".unicodeScalars) || rest.starts(with: "\\[!".unicodeScalars)
    }

    private mutating func mask(_ block: MarkdownBlock) {
        switch block.kind {
        case .quotation: paint(lines: block.lines, indent: block.indent, .quotation)
        case .code: paint(lines: block.lines, indent: block.indent, .code)
        case .html:
            paint(lines: block.lines, indent: block.indent, .html)
            findComments(in: lineRange(block.lines))
        case .paragraph, .heading:
            block.isQuoted ? maskQuoted(block) : maskProse(block)
        case .table:
            block.isQuoted ? maskQuoted(block) : maskTable(block)
        }
    }

    private func lineRange(_ lines: ClosedRange<Int>) -> Range<Int> {
        draft.range(ofLine: lines.lowerBound + 1).lowerBound..<draft.range(ofLine: lines.upperBound + 1).upperBound
    }

    /// Within a quotation code stays code and a link a link, but its words are not scanned.
    private mutating func maskQuoted(_ block: MarkdownBlock) {
        let lines = lineRange(block.lines)
        var inline = InlineMasker(syntax: draft.syntax, range: lines)
        inline.run(&self)
        for index in lines where kinds[index] == .markup { kinds[index] = .quotation }
        guard block.kind == .table else { return }
        for index in lines where scalars[index] == "|" && kinds[index] == .quotation { kinds[index] = .structure }
    }

    private mutating func maskProse(_ block: MarkdownBlock) {
        var first: Int?
        var last = 0
        var line = block.lines.lowerBound
        if block.kind == .paragraph {
            line = skipDefinitions(block)
            for defined in block.lines.lowerBound..<line { paint(content(ofLine: defined, of: block), .structure) }
        }
        var setext = block.kind == .heading
        while line <= block.lines.upperBound {
            var text = content(ofLine: line, of: block)
            if block.kind == .heading {
                if line == block.lines.lowerBound, text.first.map({ scalars[$0] == "#" }) ?? false {
                    setext = false
                    while let start = text.first, scalars[start] == "#" || scalars[start] == " " { text.removeFirst() }
                    while let end = text.last, scalars[end] == "#" || scalars[end] == " " { text.removeLast() }
                } else if setext, line == block.lines.upperBound, line > block.lines.lowerBound {
                    break
                }
            }
            // Lines of directives (`:::note`) and of callouts contain no prose.
            let isDirective =
                scalars[text].starts(with: ":::".unicodeScalars) || scalars[text].starts(with: "[!".unicodeScalars)
                || scalars[text].starts(with: "\\[!".unicodeScalars)
            if isDirective { paint(text, .structure) }
            if !isDirective, !text.isEmpty {
                paint(text, .prose)
                if text.upperBound < scalars.count, line < block.lines.upperBound {
                    paint(text.upperBound..<draft.range(ofLine: line + 1).upperBound, .prose)
                }
                if first == nil { first = text.lowerBound }
                last = text.upperBound
            }
            line += 1
        }
        guard let first, first < last else { return }
        blocks.append(DraftMask.Block(kind: block.kind == .heading ? .heading : .paragraph, range: first..<last))
        var inline = InlineMasker(syntax: draft.syntax, range: first..<last)
        inline.run(&self)
    }

    /// A line of a block without its indentation, quotation marks (`>`), and trailing white space.
    private func content(ofLine line: Int, of block: MarkdownBlock) -> Range<Int> {
        let text = draft.textRange(ofLine: line + 1)
        var start = line == block.lines.lowerBound ? scalarOffset(line: line, indent: block.indent) : text.lowerBound
        var marks = line == block.lines.lowerBound ? 0 : block.quoteDepth
        while start < text.upperBound {
            if scalars[start] == ">", marks > 0 {
                marks -= 1
            } else if scalars[start] != " ", scalars[start] != "\t" {
                break
            }
            start += 1
        }
        var end = text.upperBound
        while end > start, scalars[end - 1] == " " || scalars[end - 1] == "\t" { end -= 1 }
        return start..<end
    }

    /// The first line of a paragraph after its leading link reference definitions.
    private func skipDefinitions(_ block: MarkdownBlock) -> Int {
        var line = block.lines.lowerBound
        while line <= block.lines.upperBound {
            let text = content(ofLine: line, of: block)
            let rest = scalars[text]
            guard rest.first == "[", !rest.starts(with: "[^".unicodeScalars), let close = rest.firstIndex(of: "]"),
                close + 1 < text.upperBound, scalars[close + 1] == ":", isDestination(close + 2..<text.upperBound)
            else { break }
            line += 1
            // The destination or the title may be on a separate line.
            while line <= block.lines.upperBound {
                let more = content(ofLine: line, of: block)
                guard let mark = more.first.map({ scalars[$0] }), let end = more.last.map({ scalars[$0] }) else {
                    break
                }
                let isTitle =
                    (mark == "\"" && end == "\"") || (mark == "'" && end == "'") || (mark == "(" && end == ")")
                let isBare = close + 2 >= text.upperBound && !scalars[more].contains(" ")
                guard isTitle || isBare else { break }
                line += 1
            }
        }
        return line
    }

    /// Whether a label is followed only by a destination and perhaps a title: `[Term]: a text` does not define a link.
    private func isDestination(_ range: Range<Int>) -> Bool {
        var rest = scalars[range]
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        let end = rest.first == "<" ? rest.firstIndex(of: ">") : rest.firstIndex { $0 == " " || $0 == "\t" }
        guard let end else { return true }
        let title = rest[(end + 1)...].first { $0 != " " && $0 != "\t" }
        return title == nil || title == "\"" || title == "'" || title == "("
    }

    private mutating func maskTable(_ block: MarkdownBlock) {
        for line in block.lines {
            let text = content(ofLine: line, of: block)
            let row = scalars[text]
            let isDelimiter = row.allSatisfy { $0 == "|" || $0 == "-" || $0 == ":" || $0 == " " || $0 == "\t" }
            // A line break within a cell ends the row.
            paint(
                (isDelimiter ? text.lowerBound : text.upperBound)..<draft.range(ofLine: line + 1).upperBound, .structure
            )
            if isDelimiter { continue }
            var start = text.lowerBound
            var index = start
            while index <= text.upperBound {
                let isEnd = index == text.upperBound
                if isEnd || (scalars[index] == "|" && !(index > start && scalars[index - 1] == "\\")) {
                    maskCell(start..<index)
                    if !isEnd { paint(index..<index + 1, .structure) }
                    start = index + 1
                }
                index += 1
            }
        }
    }

    private mutating func maskCell(_ range: Range<Int>) {
        var cell = range
        while let first = cell.first, scalars[first] == " " || scalars[first] == "\t" { cell.removeFirst() }
        while let last = cell.last, scalars[last] == " " || scalars[last] == "\t" { cell.removeLast() }
        guard !cell.isEmpty else { return }
        paint(cell, .prose)
        blocks.append(DraftMask.Block(kind: .cell, range: cell))
        var inline = InlineMasker(syntax: draft.syntax, range: cell)
        inline.run(&self)
    }

    func maskedScalars() -> [Unicode.Scalar] {
        var masked = scalars
        var previous = DraftMask.Kind.prose
        for (index, kind) in kinds.enumerated() {
            defer { previous = kind }
            guard kind != .prose else { continue }
            let scalar = scalars[index]
            if scalar == "\n" || scalar == "\r" { continue }
            masked[index] = kind == .markup || kind == .structure || kind == previous ? " " : DraftMask.placeholder
        }
        return masked
    }

    mutating func findComments(in range: Range<Int>) {
        var index = range.lowerBound
        while index + 3 < range.upperBound {
            guard scalars[index] == "<", scalars[index + 1] == "!", scalars[index + 2] == "-", scalars[index + 3] == "-"
            else {
                index += 1
                continue
            }
            var end = index + 4
            while end < range.upperBound, !(scalars[end] == ">" && scalars[end - 1] == "-" && scalars[end - 2] == "-") {
                end += 1
            }
            comments.append(index..<min(range.upperBound, end + 1))
            index = end + 1
        }
    }

    func exemptions() -> [DraftMask.Exemption] {
        TKDirectives.exemptions(
            comments: comments.sorted { $0.lowerBound < $1.lowerBound }, draft: draft,
            blocks: blocks.map(\.range).sorted { $0.lowerBound < $1.lowerBound }, topLevel: topLevel.map(lineRange))
    }
}
