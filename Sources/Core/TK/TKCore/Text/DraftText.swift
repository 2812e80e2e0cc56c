import Platform

/// A text whose positions count Unicode scalars, with its lines and its UTF-8 columns.
///
/// Built once in linear time; every query about a position then takes logarithmic time. A line ends at LF, CRLF or a
/// lone CR, as in CommonMark. Lines and columns count from 1.
public struct DraftText: Sendable {
    /// The original text.
    public let string: String
    /// The whole text; a position is an index of this array.
    public let scalars: [Unicode.Scalar]
    /// SHA-256 of the text's UTF-8, in hexadecimal digits.
    public let hash: String
    /// The text's syntax, which determines what is prose (``DraftMask``).
    public let syntax: DraftSyntax

    /// The start of each line; never empty.
    let lineStarts: [Int]
    /// The UTF-8 offset of every 64th scalar.
    private let utf8Marks: [Int]

    /// Indexes the text.
    public init(_ string: String, syntax: DraftSyntax = .markdown) {
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(string.utf8.count)
        var lineStarts = [0]
        var utf8Marks: [Int] = []
        var utf8 = 0
        for scalar in string.unicodeScalars {
            if scalars.count & 63 == 0 { utf8Marks.append(utf8) }
            if scalar == "\n" {
                if scalars.last == "\r" { lineStarts.removeLast() }
                lineStarts.append(scalars.count + 1)
            } else if scalar == "\r" {
                lineStarts.append(scalars.count + 1)
            }
            scalars.append(scalar)
            utf8 += UTF8.width(scalar)
        }
        utf8Marks.append(utf8)
        self.string = string
        self.syntax = syntax
        self.scalars = scalars
        self.lineStarts = lineStarts
        self.utf8Marks = utf8Marks
        hash = ContentHash(of: string.utf8).description
    }

    /// The number of Unicode scalars.
    public var count: Int { scalars.count }

    /// A text with a final line ending has no empty last line; an empty text has one line.
    public var lineCount: Int {
        lineStarts.count > 1 && lineStarts.last == count ? lineStarts.count - 1 : lineStarts.count
    }

    /// The text in a range, clamped to the text.
    public subscript(range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range.clamped(to: 0..<count)])
        return String(text)
    }

    /// The line of a position; the end of the text belongs to the last line.
    public func line(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The column of a position in Unicode scalars.
    public func column(at offset: Int) -> Int { offset - lineStarts[line(at: offset) - 1] + 1 }

    /// The column of a position in UTF-8 bytes, as rdjsonl counts them.
    public func utf8Column(at offset: Int) -> Int {
        utf8Offset(of: offset) - utf8Offset(of: lineStarts[line(at: offset) - 1]) + 1
    }

    /// The position of a line and a column in scalars; nil if there is no such place. The column after the last scalar
    /// of a line's text is the line's end.
    public func offset(line: Int, column: Int) -> Int? {
        guard line >= 1, line <= lineStarts.count, column >= 1 else { return nil }
        let offset = lineStarts[line - 1] + column - 1
        return offset <= textRange(ofLine: line).upperBound ? offset : nil
    }

    /// A line with its line ending.
    public func range(ofLine line: Int) -> Range<Int> {
        guard line >= 1, line <= lineStarts.count else { return count..<count }
        return lineStarts[line - 1]..<(line < lineStarts.count ? lineStarts[line] : count)
    }

    /// A line without its line ending.
    public func textRange(ofLine line: Int) -> Range<Int> {
        let whole = range(ofLine: line)
        var end = whole.upperBound
        while end > whole.lowerBound, scalars[end - 1] == "\n" || scalars[end - 1] == "\r" { end -= 1 }
        return whole.lowerBound..<end
    }

    /// The UTF-8 bytes before a position.
    public func utf8Offset(of offset: Int) -> Int {
        let offset = min(max(offset, 0), count)
        let mark = offset & ~63
        var utf8 = utf8Marks[mark / 64 < utf8Marks.count ? mark / 64 : utf8Marks.count - 1]
        if mark / 64 < utf8Marks.count { for index in mark..<offset { utf8 += UTF8.width(scalars[index]) } }
        return utf8
    }

    /// An anchor of a range, which is first widened so that it splits no CRLF and no grapheme cluster.
    public func anchor(of range: Range<Int>) -> TextAnchor {
        let range = graphemeRange(around: range)
        return TextAnchor(
            exact: self[range],
            prefix: self[max(0, range.lowerBound - TextAnchor.contextLength)..<range.lowerBound],
            suffix: self[range.upperBound..<min(count, range.upperBound + TextAnchor.contextLength)],
            start: range.lowerBound, end: range.upperBound, line: line(at: range.lowerBound), textHash: hash)
    }

    /// The smallest range that contains `range` and splits no CRLF and no grapheme cluster.
    public func graphemeRange(around range: Range<Int>) -> Range<Int> {
        let range = range.clamped(to: 0..<count)
        var start = range.lowerBound
        var end = range.upperBound
        if !isGraphemeBoundary(start) { start = boundary(before: start) }
        if !isGraphemeBoundary(end) { end = boundary(after: end) }
        return start..<end
    }

    /// Whether a grapheme cluster starts or ends at a position.
    public func isGraphemeBoundary(_ offset: Int) -> Bool {
        guard offset > 0, offset < count else { return true }
        let before = scalars[offset - 1]
        let after = scalars[offset]
        if before.isASCII, after.isASCII { return !(before == "\r" && after == "\n") }
        return clusters(around: offset).contains(offset)
    }

    private func boundary(before offset: Int) -> Int {
        clusters(around: offset).last { $0 < offset } ?? max(0, offset - 1)
    }

    private func boundary(after offset: Int) -> Int {
        clusters(around: offset).first { $0 > offset } ?? min(count, offset + 1)
    }

    /// The boundaries near a position. A cluster never crosses two adjacent ASCII scalars other than CRLF, so the
    /// search starts after such a pair, or 128 scalars before: longer clusters do not occur in real text.
    private func clusters(around offset: Int) -> [Int] {
        var start = offset
        while start > max(0, offset - 128), !isPlainPair(start) { start -= 1 }
        var end = offset
        while end < min(count, offset + 128), end == offset || !isPlainPair(end) { end += 1 }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<end])
        var boundaries = [start]
        for character in String(text) {
            boundaries.append(boundaries[boundaries.count - 1] + character.unicodeScalars.count)
        }
        return boundaries
    }

    private func isPlainPair(_ offset: Int) -> Bool {
        guard offset > 0, offset < count else { return true }
        return scalars[offset - 1].isASCII && scalars[offset].isASCII && scalars[offset] != "\n"
    }
}
