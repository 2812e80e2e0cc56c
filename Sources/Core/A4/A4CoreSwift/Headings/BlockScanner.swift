/// Recognises headings line by line, by CommonMark's rules for ATX headings and fenced code blocks: up to three spaces
/// of indent, an optional closing run of `#`, and no headings inside a fence.
struct BlockScanner {
    enum Meaning: Equatable {
        case text
        /// A fence, or a line within one.
        case code
        /// `text` is the heading's text, without marks and surrounding blanks.
        case heading(level: Int, text: Range<Int>)
    }

    private var fence: (mark: UInt8, length: Int)?

    /// Whether a fence is open after the lines read so far.
    var isInFence: Bool { fence != nil }

    /// Reads the next line. Lines are read in order, each one once.
    mutating func read(_ line: Line, of bytes: [UInt8]) -> Meaning {
        var first = line.start
        while first < line.textEnd, bytes[first] == space { first += 1 }
        guard first < line.textEnd, first - line.start < 4 else { return fence == nil ? .text : .code }
        let mark = bytes[first]
        if let open = fence {
            if mark == open.mark, Self.closes(bytes, first, line.textEnd, open.length) { fence = nil }
            return .code
        }
        if mark == backtick || mark == tilde {
            let run = Self.run(of: mark, bytes, first, line.textEnd)
            let info = bytes[(first + run)..<line.textEnd]
            guard run >= 3, mark == tilde || !info.contains(backtick) else { return .text }
            fence = (mark, run)
            return .code
        }
        guard mark == hash else { return .text }
        let level = Self.run(of: hash, bytes, first, line.textEnd)
        let after = first + level
        guard level <= 6, after == line.textEnd || Self.isBlank(bytes[after]) else { return .text }
        return .heading(level: level, text: Self.trimmed(bytes, after, line.textEnd))
    }

    private static func run(of mark: UInt8, _ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, bytes[position] == mark { position += 1 }
        return position - start
    }

    private static func closes(_ bytes: [UInt8], _ start: Int, _ end: Int, _ length: Int) -> Bool {
        let run = run(of: bytes[start], bytes, start, end)
        return run >= length && bytes[(start + run)..<end].allSatisfy(isBlank)
    }

    /// Trims blanks at both ends, and a closing run of `#` after a blank.
    private static func trimmed(_ bytes: [UInt8], _ from: Int, _ to: Int) -> Range<Int> {
        var (start, end) = (from, to)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        var closing = end
        while closing > start, bytes[closing - 1] == hash { closing -= 1 }
        guard closing < end, closing == start || isBlank(bytes[closing - 1]) else { return start..<end }
        while closing > start, isBlank(bytes[closing - 1]) { closing -= 1 }
        return start..<closing
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == UInt8(ascii: "\t") }
}

private let space = UInt8(ascii: " ")
private let hash = UInt8(ascii: "#")
private let backtick = UInt8(ascii: "`")
private let tilde = UInt8(ascii: "~")
