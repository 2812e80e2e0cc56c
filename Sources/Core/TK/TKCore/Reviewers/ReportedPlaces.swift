/// Converts the positions of other programs into those of a draft: lines and columns from 1, columns and offsets in
/// various units.
struct ReportedPlaces {
    /// What a column counts.
    enum Unit {
        case utf8, utf16, scalars

        func width(_ scalar: Unicode.Scalar) -> Int {
            switch self {
            case .utf8: UTF8.width(scalar)
            case .utf16: UTF16.width(scalar)
            case .scalars: 1
            }
        }
    }

    let draft: DraftText
    /// The UTF-16 offset of every 64th scalar.
    private let marks: [Int]

    init(_ draft: DraftText) {
        self.draft = draft
        var marks: [Int] = []
        var offset = 0
        for (index, scalar) in draft.scalars.enumerated() {
            if index & 63 == 0 { marks.append(offset) }
            offset += UTF16.width(scalar)
        }
        self.marks = marks
    }

    /// The position of a line and a column; nil if there is no such place. A column within a character means its start.
    func offset(line: Int, column: Int, _ unit: Unit) -> Int? {
        guard line >= 1, line <= draft.lineStarts.count, column >= 1 else { return nil }
        let whole = draft.range(ofLine: line)
        var place = whole.lowerBound
        var left = column - 1
        while left > 0 {
            guard place < whole.upperBound else { return nil }
            let width = unit.width(draft.scalars[place])
            if width > left { return place }
            left -= width
            place += 1
        }
        return place
    }

    /// The text from one place to another, which is exclusive. Without a column it is whole lines, without an end the
    /// word that begins there. nil if there are no such places.
    func range(line: Int, column: Int?, endLine: Int?, endColumn: Int?, _ unit: Unit) -> Range<Int>? {
        // The text's end may be told as the beginning of a line behind it.
        if let endLine, !(line...max(line, draft.lineStarts.count + 1)).contains(endLine) { return nil }
        guard let column else {
            let last = endLine.map { endColumn == nil ? $0 : max(line, $0) } ?? line
            guard line >= 1, last >= line, last <= draft.lineStarts.count else { return nil }
            let start = draft.range(ofLine: line).lowerBound
            let end =
                endColumn.flatMap { offset(line: last, column: $0, unit) } ?? draft.textRange(ofLine: last).upperBound
            return start..<max(start, end)
        }
        guard let start = offset(line: line, column: column, unit) else { return nil }
        if let endColumn {
            // Some programs count the line's end as a column more.
            let last = endLine ?? line
            let end = offset(line: last, column: endColumn, unit) ?? draft.range(ofLine: last).upperBound
            return end >= start ? start..<end : nil
        }
        if let endLine { return start..<max(start, draft.textRange(ofLine: endLine).upperBound) }
        return start..<endOfWord(start)
    }

    func endOfWord(_ start: Int) -> Int {
        var end = start
        while end < draft.count, !draft.scalars[end].properties.isWhitespace { end += 1 }
        return end
    }

    /// A range in UTF-16 code units of the whole text; nil if it is not within the text.
    func range(utf16 start: Int, length: Int) -> Range<Int>? {
        let (last, isBeyond) = start.addingReportingOverflow(length)
        guard length >= 0, !isBeyond, let first = offset(utf16: start) else { return nil }
        return offset(utf16: last).map { first..<$0 }
    }

    private func offset(utf16 wanted: Int) -> Int? {
        guard wanted >= 0, !marks.isEmpty else { return wanted == 0 ? 0 : nil }
        var (low, high) = (0, marks.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if marks[middle] <= wanted { low = middle } else { high = middle }
        }
        var (place, at) = (low * 64, marks[low])
        while at < wanted {
            guard place < draft.count else { return nil }
            let width = UTF16.width(draft.scalars[place])
            if at + width > wanted { return place }
            at += width
            place += 1
        }
        return place
    }

    /// A place for people.
    static func shown(_ line: Int?, _ column: Int?) -> String? {
        line.map { line in column.map { "\(line):\($0)" } ?? "\(line)" }
    }
}
