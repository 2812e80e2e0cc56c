extension MaskBuilder {
    /// Plain text: blank lines and list marks separate paragraphs; lines of columns and of drawn tables, of code and of
    /// a terminal are not prose, and only addresses are masked.
    mutating func maskPlain() {
        var isFenced = false
        var paragraph: [PlainLine] = []
        for line in 1...max(1, draft.lineCount) {
            var text = draft.textRange(ofLine: line)
            let start = text.lowerBound
            while let first = text.first, scalars[first].properties.isWhitespace { text.removeFirst() }
            while let last = text.last, scalars[last].properties.isWhitespace { text.removeLast() }
            if text.isEmpty {
                maskParagraph(paragraph)
                paragraph = []
                continue
            }
            let isFence = scalars[text].starts(with: "```".unicodeScalars)
            if isFence { isFenced.toggle() }
            let isKept = isFence || isFenced || isDrawn(text) || isCode(text, indent: text.lowerBound - start)
            paragraph.append(
                PlainLine(
                    text: text, isKept: isKept, isWide: hasColumns(text),
                    column: secondColumn(text).map { $0 - start }))
        }
        maskParagraph(paragraph)
    }

    private struct PlainLine {
        var text: Range<Int>
        /// Code, a fence, or part of a drawn table.
        var isKept: Bool
        /// A wide gap separates its columns.
        var isWide: Bool
        /// Where the words behind its only gap begin.
        var column: Int?
    }

    /// Masks lines without a blank one among them. If many of them have columns, the others are cells as well.
    private mutating func maskParagraph(_ lines: [PlainLine]) {
        var lines = lines
        for index in lines.indices.dropFirst() {
            guard let column = lines[index].column, column == lines[index - 1].column else { continue }
            lines[index].isWide = true
            lines[index - 1].isWide = true
        }
        let wide = lines.count(where: \.isWide)
        let isTable = wide >= 2 && wide * 3 >= lines.count
        var block: Range<Int>?
        func close(_ builder: inout MaskBuilder) {
            guard let range = block else { return }
            builder.paint(range, .prose)
            builder.blocks.append(DraftMask.Block(kind: .paragraph, range: range))
            var inline = InlineMasker(syntax: .plain, range: range)
            inline.run(&builder)
            block = nil
        }
        for line in lines {
            if startsItem(line.text) { close(&self) }
            if isTable || line.isKept || line.isWide {
                close(&self)
                paint(line.text, .code)
            } else {
                block = (block?.lowerBound ?? line.text.lowerBound)..<line.text.upperBound
            }
        }
        close(&self)
    }

    /// A border or a row of a table drawn with `+---+` and `|`, or with characters for drawing boxes.
    private func isDrawn(_ line: Range<Int>) -> Bool {
        let words = scalars[line]
        if words.contains(where: { (0x2500...0x259F).contains($0.value) }) { return true }
        switch (words.first, words.last) {
        case ("+", "+"), ("|", "|"): return words.count > 1
        case ("|", _), (_, "|"): return words.count { $0 == "|" } > 1
        default: return false
        }
    }

    /// Where the words behind a gap of two or more spaces begin; nil if there are more gaps, as in justified text. A
    /// gap after a sentence is none.
    private func secondColumn(_ line: Range<Int>) -> Int? {
        var found: Int?
        var spaces = 0
        var before: Unicode.Scalar = "."
        for index in line {
            if scalars[index] == " " {
                spaces += 1
                continue
            }
            if spaces >= 2, !".?!:".unicodeScalars.contains(before) {
                guard found == nil else { return nil }
                found = index
            }
            (spaces, before) = (0, scalars[index])
        }
        return found
    }

    private func startsItem(_ line: Range<Int>) -> Bool {
        var index = line.lowerBound
        while index < line.upperBound, scalars[index].value &- 48 < 10 { index += 1 }
        guard index < line.upperBound else { return false }
        let isMark =
            index > line.lowerBound
            ? scalars[index] == "." || scalars[index] == ")" : "-*+•o".unicodeScalars.contains(scalars[index])
        return isMark && index + 1 < line.upperBound && scalars[index + 1].properties.isWhitespace
    }

    /// Three spaces, or a tab, within a line separate columns.
    private func hasColumns(_ line: Range<Int>) -> Bool {
        var spaces = 0
        for index in line.dropFirst(startsItem(line) ? 6 : 0) {
            if scalars[index] == "\t" { return index > line.lowerBound + 4 }
            if scalars[index] == " " { spaces += 1 } else if spaces >= 3 { return true } else { spaces = 0 }
        }
        return false
    }

    /// Input at a prompt, or an indented line with a program's punctuation.
    private func isCode(_ line: Range<Int>, indent: Int) -> Bool {
        let words = scalars[line]
        for prompt in ["$ ", ">>> ", "#!/", "#include "] where words.starts(with: prompt.unicodeScalars) { return true }
        guard indent >= 2, let last = words.last else { return false }
        if last == "{" || last == "}" || last == ";" && words.contains("=") { return true }
        let marks = Self.codeMarks
        return words.indices.contains { index in
            marks.contains { $0[0] == words[index] && words[index...].starts(with: $0) }
        }
    }

    private static let codeMarks = [" = ", " == ", "()", "->", "=>", "&&", "||", " --", "</", "/*", "::"]
        .map { Array($0.unicodeScalars) }
}
