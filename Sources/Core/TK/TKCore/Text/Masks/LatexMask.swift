extension MaskBuilder {
    /// LaTeX: the preamble, comments, formulas, listings, and commands with their arguments are not prose; the content
    /// of emphasis, headings and footnotes is.
    mutating func maskLatex() {
        var scan = LatexScan(scalars: scalars)
        scan.run()
        let body = scan.body
        steps += scan.steps
        paint(0..<scalars.count, .code)
        paint(body, .prose)
        var inline = InlineMasker(syntax: .plain, range: body)
        inline.run(&self)
        for span in scan.spans { paint(span.range, span.kind) }
        findBlocks(in: body, parted: scan.parts)
    }

    /// Paragraphs are between blank lines, and between lines with only commands.
    private mutating func findBlocks(in body: Range<Int>, parted parts: [Int: DraftMask.Block.Kind]) {
        var block: (range: Range<Int>, kind: DraftMask.Block.Kind)?
        func close(_ builder: inout MaskBuilder) {
            if let found = block { builder.blocks.append(DraftMask.Block(kind: found.kind, range: found.range)) }
            block = nil
        }
        for line in 1...max(1, draft.lineCount) {
            let text = draft.textRange(ofLine: line).clamped(to: body)
            let words = text.filter { kinds[$0] == .prose && !scalars[$0].properties.isWhitespace }
            guard let first = words.first, let last = words.last else {
                close(&self)
                continue
            }
            let part = text.lazy.compactMap { parts[$0] }.first
            if part != nil { close(&self) }
            block = ((block?.range.lowerBound ?? first)..<last + 1, block?.kind ?? part ?? .paragraph)
            if part == .heading { close(&self) }
        }
        close(&self)
    }
}

/// The markup of a LaTeX document.
private struct LatexScan {
    let scalars: [Unicode.Scalar]
    private(set) var body: Range<Int>
    private(set) var spans: [LineMask.Span] = []
    /// The start of each heading or list item.
    private(set) var parts: [Int: DraftMask.Block.Kind] = [:]
    private var index = 0
    private var brackets: BracketPairs
    private var searched = 0
    /// The scalars that were examined in search of closing marks.
    var steps: Int { searched + brackets.steps }

    init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
        body = 0..<scalars.count
        brackets = BracketPairs(body)
        if let begin = find("\\begin{document}", from: 0) { body = begin + 16..<scalars.count }
        if let end = find("\\end{document}", from: body.lowerBound) { body = body.lowerBound..<end }
        index = body.lowerBound
        brackets = BracketPairs(body)
    }

    private static let listings: Set<String> = [
        "verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt", "filecontents", "comment", "tikzpicture",
        "tabular", "tabular*", "tabularx", "longtable", "array", "thebibliography", "algorithm", "algorithmic",
        "pgfpicture",
    ]
    private static let formulas: Set<String> = [
        "math", "displaymath", "equation", "equation*", "align", "align*", "alignat", "alignat*", "gather", "gather*",
        "multline", "multline*", "eqnarray", "eqnarray*", "flalign", "flalign*", "IEEEeqnarray",
    ]
    /// Commands whose last argument is the author's prose.
    private static let prose: Set<String> = [
        "emph", "textbf", "textit", "textsl", "textsc", "textrm", "textsf", "underline", "footnote",
        "footnotetext",
        "enquote", "mbox", "text", "caption", "item", "title", "thanks", "marginpar", "uline", "hl", "textquote",
        "textup",
        "textmd", "textnormal", "bf", "it", "em", "sc", "small", "large", "Large", "centering", "noindent", "ldots",
        "dots",
        "LaTeX", "TeX", "newline", "par", "quad", "qquad", "ss", "ae", "oe", "o", "aa", "l", "i", "j", "S", "P",
        "textquotedblleft",
        "href", "textcolor", "colorbox",
    ]
    private static let headings: Set<String> = [
        "part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph", "title", "caption",
    ]

    mutating func run() {
        while index < body.upperBound {
            let start = index
            switch scalars[index] {
            case "%":
                while index < body.upperBound, scalars[index] != "\n", scalars[index] != "\r" { index += 1 }
                keep(start, .code)
            case "\\": command()
            case "$":
                let mark = index + 1 < body.upperBound && scalars[index + 1] == "$" ? "$$" : "$"
                index = find(mark, from: index + mark.utf8.count).map { $0 + mark.utf8.count } ?? body.upperBound
                keep(start, .math)
            case "{", "}", "~", "&":
                index += 1
                keep(start, .structure)
            default: index += 1
            }
        }
    }

    private mutating func keep(_ start: Int, _ kind: DraftMask.Kind) {
        spans.append(LineMask.Span(range: start..<max(start, min(index, body.upperBound)), kind: kind))
    }

    private mutating func command() {
        let start = index
        index += 1
        while index < body.upperBound, scalars[index].isASCII, scalars[index].properties.isAlphabetic { index += 1 }
        var name = string(start + 1..<index)
        if name.isEmpty {
            let closing = index < body.upperBound ? ["(": "\\)", "[": "\\]"][scalars[index]] : nil
            if let closing {
                index = find(closing, from: index + 1).map { $0 + 2 } ?? body.upperBound
                return keep(start, .math)
            }
            index += 1
            return keep(start, .structure)
        }
        if index < body.upperBound, scalars[index] == "*" {
            index += 1
        }
        switch name {
        case "begin":
            name = argument() ?? ""
            if Self.listings.contains(name) || Self.formulas.contains(name) {
                let end = "\\end{\(name)}"
                index = find(end, from: index).map { $0 + end.unicodeScalars.count } ?? body.upperBound
                return keep(start, Self.formulas.contains(name) ? .math : .code)
            }
            arguments(braced: 1)
            keep(start, .structure)
        case "end":
            _ = argument()
            keep(start, .structure)
        case "verb", "lstinline", "mintinline":
            if name == "mintinline" { _ = argument() }
            if index < body.upperBound {
                let mark: Unicode.Scalar = scalars[index] == "{" ? "}" : scalars[index]
                index += 1
                while index < body.upperBound, scalars[index] != mark, scalars[index] != "\n" { index += 1 }
                index += 1
            }
            keep(start, .code)
        default:
            if Self.headings.contains(name) { parts[start] = .heading }
            if name == "item" { parts[start] = .paragraph }
            if Self.prose.contains(name) || Self.headings.contains(name) {
                arguments(braced: ["href", "textcolor", "colorbox"].contains(name) ? 1 : 0)
                keep(start, .structure)
            } else {
                arguments(braced: .max)
                keep(start, .link)
            }
        }
    }

    /// Reads the brackets that follow, and this many braces.
    private mutating func arguments(braced most: Int) {
        var left = most
        while index < body.upperBound, scalars[index] == "[" || (scalars[index] == "{" && left > 0) {
            if scalars[index] == "{" { left -= 1 }
            guard let end = brackets.end(of: index, scalars, limit: 4_000) else { return }
            index = end
        }
    }

    /// Reads `{name}`.
    private mutating func argument() -> String? {
        guard index < body.upperBound, scalars[index] == "{", let end = brackets.end(of: index, scalars)
        else {
            return nil
        }
        let name = string(index + 1..<end - 1)
        index = end
        return name
    }

    private func string(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }

    private mutating func find(_ text: String, from start: Int) -> Int? {
        let wanted = Array(text.unicodeScalars)
        var position = start
        defer { searched += position - start }
        while position + wanted.count <= scalars.count {
            if scalars[position] == wanted[0], scalars[position..<position + wanted.count].elementsEqual(wanted) {
                return position
            }
            position += 1
        }
        return nil
    }
}
