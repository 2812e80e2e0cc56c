extension MaskBuilder {
    /// AsciiDoc: listings, literals, passthroughs, comments, tables, attributes, anchors and macros are not prose.
    mutating func maskAsciiDoc() {
        let lines = LineMask(draft: draft)
        var reader = AsciiDocLines(lines: lines, frontMatter: FrontMatter.lines(of: draft))
        lines.run(&self, { reader.read($0, $1, $2) }, { AsciiDocLines.marks.spans(in: lines.scalars, $0, &$1) })
    }
}

/// Classifies the lines of an AsciiDoc document.
private struct AsciiDocLines {
    let lines: LineMask
    let frontMatter: ClosedRange<Int>?
    /// The delimiter that closes the open block, and the kind of its content; nil for prose.
    private var open: (delimiter: String, kind: DraftMask.Kind)?
    /// The kind that a line of attributes gives to the next paragraph.
    private var next: DraftMask.Kind?
    /// The kind of a paragraph without delimiters, until its end.
    private var paragraph: DraftMask.Kind?
    private var followsBlank = true

    init(lines: LineMask, frontMatter: ClosedRange<Int>?) {
        self.lines = lines
        self.frontMatter = frontMatter
    }

    mutating func read(_ line: Int, _ text: Range<Int>, _ usual: LineMask.Line) -> LineMask.Line {
        if frontMatter?.contains(line - 1) == true { return .kept(.frontMatter) }
        let content = lines.text(text)
        if let open {
            guard content == open.delimiter else { return .kept(open.kind) }
            self.open = nil
            return .kept(open.kind)
        }
        if let kind = Self.delimited(content) {
            let verbatim = next ?? kind
            next = nil
            (followsBlank, paragraph) = (true, nil)
            if let verbatim { open = (content.hasPrefix("```") ? "```" : content, verbatim) }
            return .kept(verbatim ?? .structure)
        }
        if text.isEmpty {
            (followsBlank, paragraph) = (true, nil)
            return .blank
        }
        defer { followsBlank = false }
        if let paragraph { return .kept(paragraph) }
        if let attributes = attributes(content) {
            next = attributes
            return .kept(.structure)
        }
        if let kind = next {
            (next, paragraph) = (nil, kind)
            return .kept(kind)
        }
        return words(text, content) ?? usual
    }

    /// The kind that a delimiter encloses; nil if the line is not a delimiter, and a nil kind for a block of prose.
    private static func delimited(_ line: String) -> DraftMask.Kind?? {
        if line == "--" { return .some(nil) }
        if line.hasPrefix("```") { return .some(.code) }
        if ["|===", ",===", ":===", "!==="].contains(line) { return .some(.structure) }
        guard line.utf8.count >= 4, let first = line.first, line.allSatisfy({ $0 == first }) else { return nil }
        switch first {
        case "-", ".", "/": return .some(.code)
        case "+": return .some(.html)
        case "_": return .some(.quotation)
        case "=", "*": return .some(nil)
        default: return nil
        }
    }

    /// The kind that a line of attributes or an anchor gives to the following text; nil for another line.
    private func attributes(_ line: String) -> DraftMask.Kind?? {
        guard line.hasPrefix("["), line.hasSuffix("]") else { return nil }
        let name = line.dropFirst().prefix { $0.isLetter }
        switch name {
        case "source", "listing", "literal", "plantuml", "mermaid", "ditaa", "graphviz": return .some(.code)
        case "stem", "latexmath", "asciimath": return .some(.math)
        case "quote", "verse": return .some(.quotation)
        case "pass": return .some(.html)
        default: return .some(nil)
        }
    }

    private mutating func words(_ text: Range<Int>, _ line: String) -> LineMask.Line? {
        if line.hasPrefix("//") { return .kept(.code) }
        if line.hasPrefix(":"), line.contains(/^:!?[\w-]+!?:( |$)/) { return .kept(.frontMatter) }
        if line.hasSuffix("]") && line.contains(/^\w+::\S*\[/) || ["+", "'''", "---", "***", "<<<"].contains(line) {
            return .kept(.structure)
        }
        if line.contains(/^(=+|#+) \S/), let space = lines.scalars[text].firstIndex(of: " ") {
            return .heading(lines.trimmed(space..<text.upperBound))
        }
        if line.contains(/^\.[^\s.]/) { return .heading(text.lowerBound + 1..<text.upperBound) }
        let inside = lines.trimmed(text)
        if let item = lines.item(inside, bullets: "*-•.") { return .item(item) }
        if line.contains(/^<\d+>\s/) || line.contains(/\w::(?: |$)/) || line.contains(/^[A-Z]+:\s/) {
            return .item(text)
        }
        if inside.lowerBound > text.lowerBound, followsBlank {
            paragraph = .code
            return .kept(.code)
        }
        return nil
    }

    static let marks = MarkScan(
        pairs: [
            .init(open: "+++", close: "+++", kind: .html), .init(open: "$$", close: "$$", kind: .code),
            .init(open: "``", close: "``", kind: .code), .init(open: "`", close: "`", kind: .code, isTight: true),
            .init(open: "++", close: "++", kind: .code), .init(open: "+", close: "+", kind: .code, isTight: true),
            .init(open: "<<", close: ">>", kind: .link), .init(open: "[[", close: "]]", kind: .structure),
            .init(open: "(((", close: ")))", kind: .structure),
            .init(open: "{", close: "}", kind: .template, isTight: false),
        ],
        other: { index, scalars, range, brackets in
            if scalars[index] == ":", index + 1 < range.upperBound, scalars[index + 1] == ":",
                index + 2 == range.upperBound || scalars[index + 2].properties.isWhitespace
            {
                return LineMask.Span(range: index..<index + 2, kind: .structure)
            }
            guard scalars[index] == "[", let end = brackets.end(of: index, scalars) else { return nil }
            if index + 1 < end, scalars[index + 1] == "." || scalars[index + 1] == "#" || scalars[index + 1] == "%" {
                return LineMask.Span(range: index..<end, kind: .structure)
            }
            // `link:target[text]`, `https://…[text]`, `image:x.png[alt]`, `footnote:[text]`.
            var start = index
            while start > max(range.lowerBound, index - 2_048), !scalars[start - 1].properties.isWhitespace,
                scalars[start - 1] != "("
            {
                start -= 1
            }
            guard scalars[start..<index].contains(":"), scalars[start].properties.isAlphabetic else { return nil }
            return LineMask.Span(range: start..<end, kind: .link)
        })
}
