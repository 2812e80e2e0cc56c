/// The cells of the tables in reStructuredText and AsciiDoc, which the mask keeps as structure: their words are found,
/// and never changed.
struct StyleTables {
    struct Cell {
        var isHeader: Bool
        /// Of each of its lines, in the draft.
        var lines: [Range<Int>] = []
    }

    /// In the order of their first lines.
    private(set) var cells: [Cell] = []
    private let draft: DraftText

    init(_ draft: DraftText, _ mask: DraftMask) {
        self.draft = draft
        var line = 1
        while line <= draft.lineCount {
            let next: Int?
            switch draft.syntax {
            case .restructuredText: next = restTable(line, mask)
            case .asciidoc: next = asciiDocTable(line, mask)
            default: return
            }
            line = next ?? line + 1
        }
    }

    // MARK: reStructuredText

    /// - Returns: the line behind the table that begins in this line; nil if none does.
    private mutating func restTable(_ line: Int, _ mask: DraftMask) -> Int? {
        let text = draft.textRange(ofLine: line)
        let words = trimmed(text)
        guard let first = words.first else { return nil }
        // Indented, it may be an example in a literal block.
        if first == text.lowerBound, starts(words, with: ".. list-table::") { return listTable(line) }
        guard mask.kind(at: first) == .structure else { return nil }
        if consists(words, of: "= "), starts(words, with: "=") { return simpleTable(line) }
        return isGridBorder(words) ? gridTable(line) : nil
    }

    /// Columns of `=`: what begins in a column belongs to it, and a row with an empty first cell to the one before.
    private mutating func simpleTable(_ line: Int) -> Int? {
        let border = draft.textRange(ofLine: line)
        var starts: [Int] = []
        for index in border where draft.scalars[index] == "=" {
            let isFirst = index == border.lowerBound || draft.scalars[index - 1] != "="
            if isFirst { starts.append(index - border.lowerBound) }
        }
        guard starts.count > 1 else { return nil }
        var (row, rows, headers): ([Cell], [[Cell]], Int?) = ([], [], nil)
        var next = line + 1
        func finish() {
            if !row.isEmpty { rows.append(row) }
            row = []
        }
        while next <= draft.lineCount {
            let text = draft.textRange(ofLine: next)
            next += 1
            if trimmed(text).isEmpty {
                finish()
                continue
            }
            guard !consists(trimmed(text), of: "= ") else {
                finish()
                let isLast = next > draft.lineCount || trimmed(draft.textRange(ofLine: next)).isEmpty
                if isLast || headers != nil {
                    add(rows, headers: headers ?? 0)
                    return next
                }
                headers = rows.count
                continue
            }
            // The line below cells that span columns.
            if consists(trimmed(text), of: "- ") { continue }
            let parts = columns(of: text, at: starts)
            if row.isEmpty || !(parts.first?.isEmpty ?? true) {
                finish()
                row = parts.map { _ in Cell(isHeader: false) }
            }
            for (index, part) in parts.enumerated() where !part.isEmpty { row[index].lines.append(part) }
        }
        return nil
    }

    /// The parts of a line in columns. Text that reaches into the next column belongs to the one where it begins.
    private func columns(of text: Range<Int>, at starts: [Int]) -> [Range<Int>] {
        var parts = starts.map { _ in text.upperBound..<text.upperBound }
        var column = 0
        while column < starts.count {
            let start = min(text.upperBound, text.lowerBound + starts[column])
            var next = column + 1
            while next < starts.count, case let place = text.lowerBound + starts[next], place < text.upperBound,
                draft.scalars[place - 1] != " "
            {
                next += 1
            }
            let end = next < starts.count ? min(text.upperBound, text.lowerBound + starts[next]) : text.upperBound
            parts[column] = trimmed(start..<max(start, end))
            column = next
        }
        return parts
    }

    /// Cells between `|`, above lines of `+---+`. Where such a line is only below some columns, the others go on.
    private mutating func gridTable(_ line: Int) -> Int {
        var corners: Set<Int> = []
        var open: [Int: Cell] = [:]
        var (rows, headers): ([[Cell]], Int) = ([], 0)
        var next = line
        while next <= draft.lineCount {
            let text = draft.textRange(ofLine: next)
            let words = trimmed(text)
            guard let first = words.first, "+|".unicodeScalars.contains(draft.scalars[first]) else { break }
            next += 1
            func column(_ index: Int) -> Int { index - text.lowerBound }
            if isGridBorder(words) {
                rows.append(open.sorted { $0.key < $1.key }.map(\.value))
                open = [:]
                corners.formUnion(words.filter { draft.scalars[$0] == "+" }.map(column))
                if draft.scalars[words].contains("=") { headers = rows.count }
                continue
            }
            var start = first + 1
            for index in words where index >= start && corners.contains(column(index)) {
                guard draft.scalars[index] == "|" || draft.scalars[index] == "+" else { continue }
                let part = trimmed(start..<index)
                if consists(part, of: "-"), part.count > 1 {
                    rows.append(open.removeValue(forKey: column(start)).map { [$0] } ?? [])
                } else if !part.isEmpty {
                    open[column(start), default: Cell(isHeader: false)].lines.append(part)
                }
                start = index + 1
            }
        }
        add(rows, headers: headers)
        return next
    }

    /// A list of lists: `* -` begins a row, `-` below it a cell.
    private mutating func listTable(_ line: Int) -> Int {
        var (row, rows, headers): ([Cell], [[Cell]], Int) = ([], [], 0)
        var cellColumn: Int?
        var next = line + 1
        while next <= draft.lineCount {
            let text = draft.textRange(ofLine: next)
            let words = trimmed(text)
            let indentation = words.lowerBound - text.lowerBound
            if !words.isEmpty, indentation == 0 { break }
            next += 1
            if starts(words, with: ":header-rows:") {
                headers = Int(draft[words].drop { !$0.isNumber }) ?? 0
            } else if starts(words, with: "* - ") {
                if !row.isEmpty { rows.append(row) }
                cellColumn = indentation + 2
                row = [Cell(isHeader: false, lines: [trimmed(words.dropFirst(4))])]
            } else if starts(words, with: "- "), indentation == cellColumn {
                row.append(Cell(isHeader: false, lines: [trimmed(words.dropFirst(2))]))
            } else if !row.isEmpty, !words.isEmpty {
                row[row.count - 1].lines.append(words)
            }
        }
        if !row.isEmpty { rows.append(row) }
        add(rows, headers: headers)
        return next
    }

    private func isGridBorder(_ words: Range<Int>) -> Bool {
        words.count > 2 && starts(words, with: "+") && consists(words, of: "+-=")
    }

    // MARK: AsciiDoc

    /// Cells behind `|`, which reach as far as the next one, with an optional specification before it: `2+^s|`.
    private mutating func asciiDocTable(_ line: Int, _ mask: DraftMask) -> Int? {
        let text = trimmed(draft.textRange(ofLine: line))
        guard draft[text] == "|===", mask.kind(at: text.lowerBound) == .structure else { return nil }
        let attributes = line > 1 ? draft[draft.textRange(ofLine: line - 1)] : ""
        guard !attributes.contains("separator="), !attributes.contains("format=") else { return nil }
        var found: [(cell: Cell, line: Int, isCode: Bool)] = []
        var firstRow: Int?
        var next = line + 1
        while next <= draft.lineCount {
            let text = trimmed(draft.textRange(ofLine: next))
            next += 1
            if draft[text] == "|===" { break }
            if text.isEmpty { continue }
            if firstRow == nil { firstRow = next - 1 }
            var start = text.lowerBound
            for index in text where draft.scalars[index] == "|" {
                if index > text.lowerBound, draft.scalars[index - 1] == "\\" { continue }
                let (end, style) = specification(before: index, from: start)
                add(start..<end, to: &found)
                found.append((Cell(isHeader: style == "h"), next - 1, style == "l" || style == "m"))
                start = index + 1
            }
            add(start..<text.upperBound, to: &found)
        }
        if let firstRow {
            // A first row in one line, with a blank one below it, is the header.
            let isApart = firstRow == line + 1 && trimmed(draft.textRange(ofLine: firstRow + 1)).isEmpty
            let isNamed = attributes.contains(/%header|options="?[\w,]*header|opts="?[\w,]*header/)
            if isNamed || isApart && !attributes.contains("%noheader") {
                for index in found.indices where found[index].line == firstRow { found[index].cell.isHeader = true }
            }
        }
        cells += found.filter { !$0.isCode && !$0.cell.lines.isEmpty }.map(\.cell)
        return next
    }

    /// Adds a line to the last cell.
    private func add(_ range: Range<Int>, to found: inout [(cell: Cell, line: Int, isCode: Bool)]) {
        let words = trimmed(range)
        guard !words.isEmpty, !found.isEmpty else { return }
        found[found.count - 1].cell.lines.append(words)
    }

    /// Where the cell before `|` ends, and the style of the one behind it.
    private func specification(before index: Int, from start: Int) -> (end: Int, style: Unicode.Scalar?) {
        var begin = index
        while begin > start, "0123456789.+*<>^adehlmsv".unicodeScalars.contains(draft.scalars[begin - 1]) { begin -= 1 }
        // Attached to a word it is a part of that.
        guard begin < index, begin == start || draft.scalars[begin - 1] == " " else { return (index, nil) }
        return (begin, draft.scalars[index - 1])
    }

    // MARK: Parts of a line

    private mutating func add(_ rows: [[Cell]], headers: Int) {
        for (number, row) in rows.enumerated() {
            for var cell in row where !cell.lines.isEmpty {
                cell.isHeader = number < headers
                cells.append(cell)
            }
        }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, ProseTokens.isSpace(draft.scalars[start]) { start += 1 }
        while end > start, ProseTokens.isSpace(draft.scalars[end - 1]) { end -= 1 }
        return start..<end
    }

    private func starts(_ range: Range<Int>, with text: String) -> Bool {
        draft.scalars[range].starts(with: text.unicodeScalars)
    }

    private func consists(_ range: Range<Int>, of marks: String) -> Bool {
        draft.scalars[range].allSatisfy { marks.unicodeScalars.contains($0) }
    }
}
