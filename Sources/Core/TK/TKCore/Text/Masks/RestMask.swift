extension MaskBuilder {
    /// reStructuredText: literal blocks, directives except admonitions, comments, tables, fields and targets are not
    /// prose.
    mutating func maskRestructuredText() {
        let lines = LineMask(draft: draft)
        var reader = RestLines(lines: lines)
        lines.run(&self, { reader.read($0, $1, $2) }, { RestInline.spans(in: lines.scalars, $0, &$1) })
    }
}

/// Classifies the lines of a reStructuredText document as docutils does; where the two could differ, more is kept.
///
/// Indentation counts columns, as a tab in a literal block below a list item reaches beyond the item's text.
private struct RestLines {
    let lines: LineMask
    /// Lines indented deeper than this are kept, with this kind.
    private var block: (column: Int, kind: DraftMask.Kind)?
    /// The column of a paragraph that ends in `::`: deeper lines after it are literal, and so are quoted ones.
    private var announced: (column: Int, isApart: Bool)?
    /// The kind of all lines up to a blank one: doctests, grid tables, quoted literal blocks.
    private var untilBlank: DraftMask.Kind?
    /// The open simple table, with the number of its borders below the first.
    private var table: (column: Int, borders: Int)?
    /// The arguments and options of a directive of this column reach up to a blank line.
    private var arguments: Int?
    /// The column of the paragraph that the line before belongs to.
    private var paragraph: Int?

    init(lines: LineMask) { self.lines = lines }

    /// Directives whose content is the author's prose.
    private static let prose: Set<String> = [
        "note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso",
        "admonition", "topic", "sidebar", "versionadded", "versionchanged", "deprecated", "rubric", "container",
        "centered", "todo", "epigraph", "highlights", "pull-quote", "compound", "figure",
    ]
    /// Of these, the ones whose arguments are names.
    private static let named: Set<String> = ["container", "figure"]
    /// More items in one line are not real writing.
    private static let deepest = 10

    mutating func read(_ line: Int, _ text: Range<Int>, _ usual: LineMask.Line) -> LineMask.Line {
        if text.isEmpty {
            (untilBlank, arguments, paragraph) = (nil, nil, nil)
            announced?.isApart = true
            return .blank
        }
        let words = lines.trimmed(text)
        let column = self.column(of: words.lowerBound, from: text.lowerBound)
        if let kind = kept(line, words, column) {
            paragraph = nil
            return .kept(kind)
        }
        let found = element(line, text, words, column)
        if case .kept = found { paragraph = nil }
        return found
    }

    /// The kind of a line within something that began above; nil for another line.
    private mutating func kept(_ line: Int, _ words: Range<Int>, _ column: Int) -> DraftMask.Kind? {
        if let open = block {
            if column > open.column { return open.kind }
            block = nil
        }
        if let above = announced {
            announced = nil
            if column > above.column {
                block = (above.column, .code)
                return .code
            }
            if above.isApart, column == above.column, Self.isPunctuation(lines.scalars[words.lowerBound]) {
                untilBlank = .code
            }
        }
        if let untilBlank { return untilBlank }
        if let open = arguments {
            if column > open { return .structure }
            arguments = nil
        }
        guard let open = table, column >= open.column else {
            table = nil
            return nil
        }
        if isBorder(words) {
            table?.borders += 1
            if open.borders == 1 || isBlank(line + 1) { table = nil }
        }
        return .structure
    }

    /// The first line of an element, or the next line of a paragraph.
    ///
    /// - Parameters:
    ///   - text: the whole line.
    ///   - words: the line, or what follows the mark of a list item.
    ///   - depth: of items that begin in this line.
    private mutating func element(
        _ line: Int, _ text: Range<Int>, _ words: Range<Int>, _ column: Int, depth: Int = 0
    ) -> LineMask.Line {
        let content = lines.text(words)
        if content.hasPrefix(">>> ") || content == ">>>" {
            untilBlank = .code
            return .kept(.code)
        }
        if isBorder(words) {
            table = (column, 0)
            return .kept(.structure)
        }
        if content.hasPrefix("+-") || content.hasPrefix("+=") {
            if content.allSatisfy({ $0 == "+" || $0 == "-" || $0 == "=" }) { untilBlank = .structure }
            return .kept(.structure)
        }
        if content == "|" || content.hasPrefix("| ") || content.hasPrefix("|") && content.hasSuffix("|") {
            return .kept(.structure)
        }
        if content == ".." || content.hasPrefix(".. ") { return markup(line, column, words) }
        if content.hasPrefix("__ ") { return .kept(.link) }
        if isField(words) {
            block = (column, .structure)
            return .kept(.structure)
        }
        // An item's mark in the middle of a paragraph is none, so what is literal below counts from the paragraph.
        let isContinued = paragraph == column
        if depth < Self.deepest, let item = lines.item(words, bullets: "-*+•#."), !item.isEmpty {
            let inside = isContinued ? column : self.column(of: item.lowerBound, from: text.lowerBound)
            switch element(line, text, item, inside, depth: depth + 1) {
            case .prose(let words): return .item(words)
            case let other: return other
            }
        }
        if content.hasSuffix("::") { announced = (column, false) }
        if content == "::" { return .kept(.structure) }
        if let first = words.first, words.count >= 2, Self.isPunctuation(lines.scalars[first]),
            words.allSatisfy({ lines.scalars[$0] == lines.scalars[first] })
        {
            return .kept(.structure)
        }
        if let description = option(words, line, column) {
            paragraph = description.isEmpty ? nil : self.column(of: description.lowerBound, from: text.lowerBound)
            return .item(description)
        }
        // The lines of a paragraph have one column: this is a definition below its term, or the next term.
        let isDefinition = paragraph.map { $0 != column } ?? false
        paragraph = column
        return isDefinition ? .item(words) : .prose(words)
    }

    /// A directive, a comment, a target or a footnote.
    private mutating func markup(_ line: Int, _ column: Int, _ text: Range<Int>) -> LineMask.Line {
        let words = lines.trimmed(text.dropFirst(2))
        let rest = lines.text(words)
        if rest.isEmpty {
            // An empty comment before a blank line ends there.
            if !isBlank(line + 1) { block = (column, .code) }
            return .kept(.code)
        }
        if rest.hasPrefix("_") {
            block = (column, .link)
            return .kept(.link)
        }
        if rest.hasPrefix("["), let end = footnote(words) {
            if rest.hasSuffix("::") { announced = (column, false) }
            return .item(lines.trimmed(end..<words.upperBound))
        }
        var name = rest.prefix { $0.isLetter || $0.isNumber || "-_.+:".contains($0) }.lowercased()
        if !name.hasSuffix("::"), rest.dropFirst(name.count).hasPrefix(" :: ") || rest == "\(name) ::" {
            name += "::"
        }
        let directive = String(name.dropLast(2))
        guard name.hasSuffix("::"), Self.prose.contains(directive) else {
            block = (column, directive == "math" ? .math : .code)
            return .kept(.code)
        }
        guard !Self.named.contains(directive), let mark = rest.firstRange(of: "::") else {
            arguments = column
            return .kept(.structure)
        }
        let argument = lines.trimmed(
            words.lowerBound + rest[..<mark.upperBound].unicodeScalars.count..<words.upperBound)
        guard !argument.isEmpty else { return .kept(.structure) }
        if rest.hasSuffix("::") { announced = (column, false) }
        return .item(argument)
    }

    // MARK: Parts of a line

    private func column(of position: Int, from start: Int) -> Int {
        var column = 0
        for index in start..<position { column += lines.scalars[index] == "\t" ? 8 - column % 8 : 1 }
        return column
    }

    /// The end of the label of a footnote or a citation; nil for a comment.
    private func footnote(_ words: Range<Int>) -> Int? {
        let label = words.dropFirst().prefix {
            let scalar = lines.scalars[$0]
            return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "#*-_.+:".unicodeScalars.contains(scalar)
        }
        let end = label.upperBound
        guard !label.isEmpty, end < words.upperBound, lines.scalars[end] == "]" else { return nil }
        let isApart = end + 1 == words.upperBound || lines.scalars[end + 1] == " "
        return isApart ? end + 1 : nil
    }

    /// Whether a line is a field, whose name may contain colons: `:name: text`, `:py:class: text`.
    private func isField(_ words: Range<Int>) -> Bool {
        guard lines.scalars[words.lowerBound] == ":", words.count > 2, lines.scalars[words.lowerBound + 1] != ":",
            lines.scalars[words.lowerBound + 1] != " "
        else { return false }
        for index in words.dropFirst() where lines.scalars[index] == ":" {
            guard index + 1 < words.upperBound else { return lines.scalars[index - 1] != " " }
            if lines.scalars[index + 1] == "`" { return false }
            if lines.scalars[index + 1] == " " { return lines.scalars[index - 1] != " " }
        }
        return false
    }

    /// The description after an option such as `-a, --all`, which two spaces or the next line separate from it; nil for
    /// another line.
    private func option(_ words: Range<Int>, _ line: Int, _ column: Int) -> Range<Int>? {
        guard words.count > 1, "-+/".unicodeScalars.contains(lines.scalars[words.lowerBound]),
            lines.scalars[words.lowerBound + 1] != " "
        else { return nil }
        var index = words.lowerBound
        while index + 1 < words.upperBound, lines.scalars[index] != " " || lines.scalars[index + 1] != " " {
            index += 1
        }
        if index + 1 < words.upperBound { return lines.trimmed(index..<words.upperBound) }
        guard !isBlank(line + 1) else { return nil }
        let next = lines.draft.textRange(ofLine: line + 1)
        let isDescribed = self.column(of: lines.trimmed(next).lowerBound, from: next.lowerBound) > column
        return isDescribed ? words.upperBound..<words.upperBound : nil
    }

    /// The border of a simple table: columns of `=`.
    private func isBorder(_ words: Range<Int>) -> Bool {
        lines.scalars[words.lowerBound] == "=" && words.contains { lines.scalars[$0] == " " }
            && words.allSatisfy { lines.scalars[$0] == "=" || lines.scalars[$0] == " " }
    }

    private func isBlank(_ line: Int) -> Bool {
        line > lines.draft.lineCount
            || lines.draft.textRange(ofLine: line).allSatisfy { lines.scalars[$0].properties.isWhitespace }
    }

    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        (0x21..<0x7F).contains(scalar.value) && !scalar.properties.isAlphabetic && scalar.value &- 48 >= 10
    }
}
