extension MaskBuilder {
    /// Plain text: blank lines and list marks separate paragraphs; lines of columns, of code and of a terminal are not
    /// prose, and only addresses are masked.
    mutating func maskPlain() {
        var block: Range<Int>?
        func close(_ builder: inout MaskBuilder) {
            guard let range = block else { return }
            builder.paint(range, .prose)
            builder.blocks.append(DraftMask.Block(kind: .paragraph, range: range))
            var inline = InlineMasker(syntax: .plain, range: range)
            inline.run(&builder)
            block = nil
        }
        var isFenced = false
        for line in 1...max(1, draft.lineCount) {
            var text = draft.textRange(ofLine: line)
            let start = text.lowerBound
            while let first = text.first, scalars[first].properties.isWhitespace { text.removeFirst() }
            if text.isEmpty || startsItem(text) { close(&self) }
            let isFence = scalars[text].starts(with: "```".unicodeScalars)
            if isFence { isFenced.toggle() }
            if isFence || isFenced || hasColumns(text) || isCode(text, indent: text.lowerBound - start) {
                close(&self)
                paint(text, .code)
            } else if !text.isEmpty {
                block = (block?.lowerBound ?? text.lowerBound)..<text.upperBound
            }
        }
        close(&self)
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
        return [" = ", " == ", "()", "->", "=>", "&&", "||", " --", "</", "/*", "::"].contains { mark in
            let mark = Array(mark.unicodeScalars)
            return words.indices.dropLast(mark.count - 1).contains { words[$0..<$0 + mark.count].elementsEqual(mark) }
        }
    }
}
