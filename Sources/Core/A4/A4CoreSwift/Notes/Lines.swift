import Glibc

/// One line of a note: its start, the end of its text, and the start of the next line.
struct Line {
    let start: Int
    /// Before the line ending.
    let textEnd: Int
    /// After the line ending; equal to `textEnd` only for a last line without one.
    let end: Int

    var isBlank: Bool { start == textEnd }
}

/// Iterates over lines that end in LF, CRLF or a lone CR.
struct Lines {
    private let bytes: [UInt8]
    private var position: Int
    private let limit: Int
    private var nextLF: Int
    private var nextCR: Int

    init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        position = start
        limit = end ?? bytes.count
        nextLF = bytes.firstIndex(of: lineFeed, from: start)
        nextCR = bytes.firstIndex(of: carriageReturn, from: start)
    }

    mutating func next() -> Line? {
        guard position < limit else { return nil }
        let start = position
        // Each search resumes at the last match, so that a note with one kind of line ending is read once.
        if nextLF < start { nextLF = bytes.firstIndex(of: lineFeed, from: start) }
        if nextCR < start { nextCR = bytes.firstIndex(of: carriageReturn, from: start) }
        let textEnd = min(nextLF, nextCR, limit)
        if textEnd == limit {
            position = limit
        } else {
            position = textEnd + (nextCR + 1 == nextLF && textEnd == nextCR && nextLF < limit ? 2 : 1)
        }
        return Line(start: start, textEnd: textEnd, end: position)
    }
}

let lineFeed = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")

extension [UInt8] {
    /// The first position of `byte` at or after `start`; `count` if there is none. Uses memchr(3).
    func firstIndex(of byte: UInt8, from start: Int) -> Int {
        guard start < count else { return count }
        return withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, let found = memchr(base + start, Int32(byte), count - start) else {
                return count
            }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }
}
