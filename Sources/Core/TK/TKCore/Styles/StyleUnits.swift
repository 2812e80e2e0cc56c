/// Splits a draft into the units that scopes select.
struct StyleUnits {
    private let draft: DraftText
    private let mask: DraftMask
    /// Of each scalar, whether `BlockIgnores` or `TokenIgnores` match it; empty if they match nothing.
    private var isIgnored: [Bool] = []
    private let isMarkdown: Bool

    init(_ draft: DraftText, _ mask: DraftMask, ignored: [Range<Int>]) {
        (self.draft, self.mask) = (draft, mask)
        isMarkdown = draft.syntax == .markdown || draft.syntax == .mdx
        guard !ignored.isEmpty else { return }
        isIgnored = Array(repeating: false, count: draft.count)
        for range in ignored { for index in range { isIgnored[index] = true } }
    }

    /// The units of all scopes but `raw`.
    func all(_ lexicon: QuickLexicon) -> [StyleUnit] {
        var units: [StyleUnit] = []
        var summary: (scalars: [Unicode.Scalar], places: [Int]) = ([], [])
        var prose = ProseTokens()
        for (unit, isParagraph) in blocks() {
            units.append(unit)
            guard isParagraph, let first = unit.places.first else { continue }
            // As in Vale, an item of a list is neither a paragraph nor split into sentences.
            if !unit.sections.contains("list") {
                units.append(StyleUnit(["paragraph"], unit.scalars, unit.places))
                units += sentences(of: unit, &prose, lexicon)
            }
            if !summary.scalars.isEmpty {
                summary.scalars += ["\n", "\n"]
                summary.places += [first, first]
            }
            summary.scalars += unit.scalars
            summary.places += unit.places
        }
        if !summary.scalars.isEmpty { units.append(StyleUnit(["summary"], summary.scalars, summary.places)) }
        return units + quotations() + alternatives() + cells()
    }

    /// Headings, cells and paragraphs of the author's prose.
    private func blocks() -> [(unit: StyleUnit, isParagraph: Bool)] {
        var adornments: [String] = []
        return mask.blocks.compactMap { block in
            let (scalars, places) = content(of: block.range)
            guard !scalars.isEmpty else { return nil }
            let level = restLevel(of: block, &adornments)
            let unit = StyleUnit(level.map { Self.heading($0) } ?? sections(of: block), scalars, places)
            return (unit: unit, isParagraph: block.kind == .paragraph && level == nil)
        }
    }

    /// The source itself.
    var raw: StyleUnit { StyleUnit(["raw"], draft.scalars, Array(0..<draft.count), isProse: false) }

    private func sentences(
        of unit: StyleUnit, _ prose: inout ProseTokens, _ lexicon: QuickLexicon
    ) -> [StyleUnit] {
        unit.scalars.withUnsafeBufferPointer { prose.read($0, 0..<$0.count, lexicon) }
        var start = 0
        var parts: [StyleUnit] = []
        for (index, sentence) in prose.sentences.enumerated() {
            let end = index == prose.sentences.count - 1 ? unit.scalars.count : sentence.end
            while start < end, ProseTokens.isSpace(unit.scalars[start]) { start += 1 }
            if start < end { parts.append(unit.part(start..<end, ["sentence"])) }
            start = end
        }
        return parts
    }

    /// The words of a block; code as asterisks.
    private func content(of range: Range<Int>) -> ([Unicode.Scalar], [Int]) {
        var scalars: [Unicode.Scalar] = []
        var places: [Int] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if mask.kind(at: index) == .prose {
                scalars.append(!isIgnored.isEmpty && isIgnored[index] ? "*" : draft.scalars[index])
                places.append(index)
                index += 1
                continue
            }
            var end = index
            var isAddress = true
            while end < range.upperBound, mask.kind(at: end) != .prose {
                if mask.kind(at: end) != .link { isAddress = false }
                end += 1
            }
            for place in index..<end {
                let isShown: Bool
                switch mask.kind(at: place) {
                case .code, .math, .edit, .template, .quotation: isShown = true
                // The address is the link's text.
                case .link: isShown = isAddress
                default: isShown = false
                }
                if isShown {
                    scalars.append("*")
                    places.append(place)
                }
            }
            index = end
        }
        return (scalars, places)
    }

    // MARK: Text that is not the author's prose

    /// Quotations, each as one unit, without the marks at the beginnings of their lines.
    private func quotations() -> [StyleUnit] {
        var units: [StyleUnit] = []
        var (scalars, places): ([Unicode.Scalar], [Int]) = ([], [])
        func finish() {
            let isText = scalars.contains { !ProseTokens.isSpace($0) }
            if isText { units.append(StyleUnit(["blockquote"], scalars, places, isProse: false)) }
            (scalars, places) = ([], [])
        }
        for line in 1...max(1, draft.lineCount) {
            let range = draft.range(ofLine: line)
            guard let first = range.first(where: { mask.kind(at: $0) == .quotation && !isMark(at: $0) }),
                !isDelimiter(draft.textRange(ofLine: line))
            else {
                finish()
                continue
            }
            for place in first..<range.upperBound {
                switch mask.kind(at: place) {
                case .quotation: scalars.append(draft.scalars[place])
                case .code, .math, .edit, .template: scalars.append("*")
                default:
                    guard ProseTokens.isSpace(draft.scalars[place]) else { continue }
                    scalars.append(draft.scalars[place])
                }
                places.append(place)
            }
        }
        finish()
        return units
    }

    /// Whether it is the line around a quotation in AsciiDoc: `____`.
    private func isDelimiter(_ line: Range<Int>) -> Bool {
        draft.syntax == .asciidoc && line.count >= 4 && draft.scalars[line].allSatisfy { $0 == "_" }
    }

    /// Whether it is white space or Markdown's `>`.
    private func isMark(at place: Int) -> Bool {
        draft.scalars[place] == ">" || ProseTokens.isSpace(draft.scalars[place])
    }

    /// The texts that stand for pictures, in Markdown.
    private func alternatives() -> [StyleUnit] {
        guard isMarkdown, mask.hasBrackets else { return [] }
        var units: [StyleUnit] = []
        var index = 0
        while index + 1 < draft.count {
            guard draft.scalars[index] == "!", draft.scalars[index + 1] == "[", mask.kind(at: index) == .structure
            else {
                index += 1
                continue
            }
            let start = index + 2
            var end = start
            while end < draft.count, mask.kind(at: end) != .structure, mask.kind(at: end) != .link { end += 1 }
            if start < end {
                units.append(StyleUnit(["alt", "attr"], Array(draft.scalars[start..<end]), Array(start..<end)))
            }
            index = end
        }
        return units
    }

    /// The cells of tables that the mask keeps. Each is a document of its own.
    private func cells() -> [StyleUnit] {
        StyleTables(draft, mask).cells.flatMap { cell -> [StyleUnit] in
            var text = String.UnicodeScalarView()
            var places: [Int] = []
            for line in cell.lines {
                if let last = places.last {
                    text.append("\n")
                    places.append(last)
                }
                text.append(contentsOf: draft.scalars[line])
                places += line
            }
            let inner = DraftText(String(text), syntax: draft.syntax)
            return StyleUnits(inner, DraftMask(inner), ignored: []).blocks().map { unit, _ in
                let shown = unit.places.map { places[$0] }
                return StyleUnit(
                    unit.sections.union(["table", cell.isHeader ? "header" : "cell"]),
                    zip(unit.scalars, shown).map { !isIgnored.isEmpty && isIgnored[$1] ? "*" : $0 }, shown,
                    isProse: false)
            }
        }
    }

    // MARK: Kinds of blocks

    private func sections(of block: DraftMask.Block) -> Set<String> {
        let line = draft.line(at: block.range.lowerBound)
        let text = draft.textRange(ofLine: line)
        let before = draft[text.lowerBound..<block.range.lowerBound]
        switch block.kind {
        case .heading:
            // The title of a block is no heading.
            if draft.syntax == .asciidoc, before == "." { return ["text"] }
            return headingLevel(before, line).map(Self.heading) ?? ["text", "heading"]
        case .cell:
            let next = draft[draft.textRange(ofLine: line + 1)]
            let isHeader = next.contains("-") && next.allSatisfy { "|-: \t".contains($0) }
            return ["text", "table", isHeader ? "header" : "cell"]
        case .paragraph:
            let isItem =
                draft.syntax != .plain
                && before.contains(/^[\s>]*(?:[-+*•]+|\.+|\d+[.)]|#\.)\s+(?:\[[ xX-]\]\s*)?$/)
            if isItem { return ["text", "list"] }
            return isIndentedQuotation(line, before) ? ["text", "blockquote"] : ["text"]
        }
    }

    /// Whether a block of reStructuredText is a quotation: a paragraph, indented below a paragraph.
    private func isIndentedQuotation(_ line: Int, _ before: String) -> Bool {
        guard draft.syntax == .restructuredText, !before.isEmpty, before.allSatisfy(\.isWhitespace), line > 2,
            draft[draft.textRange(ofLine: line - 1)].allSatisfy(\.isWhitespace)
        else { return false }
        // The nearest line above that is indented less. Long quotations are looked through no further.
        for above in (max(1, line - Self.longestQuotation)..<line).reversed() {
            let range = draft.textRange(ofLine: above)
            guard let first = range.first(where: { !ProseTokens.isSpace(draft.scalars[$0]) }),
                first - range.lowerBound < before.unicodeScalars.count
            else { continue }
            // A term of a definition has no blank line below it.
            return mask.kind(at: first) == .prose
                && draft[draft.textRange(ofLine: above + 1)].allSatisfy(\.isWhitespace)
                && !draft[first..<range.upperBound].contains(/^(?:[-+*•]|\d+[.)]|#\.)\s/)
        }
        return false
    }

    private static let longestQuotation = 50

    private static func heading(_ level: Int) -> Set<String> { ["text", "heading", "h\(min(6, level))"] }

    /// The level of a heading in reStructuredText: its kinds of lines count in the order of their appearance.
    private func restLevel(of block: DraftMask.Block, _ adornments: inout [String]) -> Int? {
        guard draft.syntax == .restructuredText else { return nil }
        let line = draft.line(at: block.range.lowerBound)
        guard draft.line(at: block.range.upperBound - 1) == line, let below = adornment(line + 1) else { return nil }
        let kind = adornment(line - 1) == below ? below + below : below
        if !adornments.contains(kind) { adornments.append(kind) }
        return adornments.firstIndex(of: kind).map { $0 + 1 }
    }

    /// The mark of a line that consists of nothing else.
    private func adornment(_ line: Int) -> String? {
        guard line >= 1, line <= draft.lineCount else { return nil }
        let text = draft[draft.textRange(ofLine: line)]
        guard let mark = text.first, mark.isPunctuation || mark.isSymbol, text.count > 1 else { return nil }
        return text.allSatisfy { $0 == mark } ? String(mark) : nil
    }

    /// By the marks before it, or Markdown's line below it.
    private func headingLevel(_ before: String, _ line: Int) -> Int? {
        let marks = before.filter { !$0.isWhitespace }
        if let mark = marks.first, "#=*".contains(mark) { return marks.prefix { $0 == mark }.count }
        guard isMarkdown else { return nil }
        for next in line + 1...line + 3 {
            switch draft[draft.textRange(ofLine: next)].drop(while: \.isWhitespace).first {
            case "=": return 1
            case "-": return 2
            default: continue
            }
        }
        return nil
    }
}
