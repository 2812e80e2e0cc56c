import Platform
import TKCore

/// How columns are counted between server and client. Lines count from 0.
enum PositionEncoding: String, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"

    func width(_ scalar: Unicode.Scalar) -> Int {
        switch self {
        case .utf8: UTF8.width(scalar)
        case .utf16: UTF16.width(scalar)
        }
    }
}

/// A position in a document, as the client counts.
struct TextPosition: Sendable, Comparable {
    var line: Int
    var character: Int

    static func < (one: Self, other: Self) -> Bool { (one.line, one.character) < (other.line, other.character) }

    init(line: Int, character: Int) { (self.line, self.character) = (line, character) }

    /// - Throws: ``ReplyError`` if it is none.
    init(_ json: JSON?) throws(ReplyError) {
        guard let line = json?["line"]?.integer, let character = json?["character"]?.integer, line >= 0, character >= 0
        else { throw .invalid("a position needs a line and a character") }
        self.init(line: line, character: character)
    }

    var json: JSON { ["line": .integer(line), "character": .integer(character)] }
}

/// The start and the end of a stretch of text; the end is not part of it.
struct TextRange: Sendable {
    var start: TextPosition
    var end: TextPosition

    init(start: TextPosition, end: TextPosition) { (self.start, self.end) = (start, end) }

    init(_ json: JSON?) throws(ReplyError) {
        self.init(start: try TextPosition(json?["start"]), end: try TextPosition(json?["end"]))
    }

    var json: JSON { ["start": start.json, "end": end.json] }

    /// Whether they have a position in common; an empty range touches what is around it.
    func touches(_ other: TextRange) -> Bool { start <= other.end && other.start <= end }
}

extension DraftText {
    /// - Parameter offset: in Unicode scalars.
    func position(at offset: Int, _ encoding: PositionEncoding) -> TextPosition {
        let line = line(at: offset)
        let start = range(ofLine: line).lowerBound
        let character = scalars[min(start, offset)..<min(offset, count)].reduce(0) { $0 + encoding.width($1) }
        return TextPosition(line: line - 1, character: character)
    }

    func range(_ range: Range<Int>, _ encoding: PositionEncoding) -> TextRange {
        TextRange(start: position(at: range.lowerBound, encoding), end: position(at: range.upperBound, encoding))
    }
}

/// A document's text while it is edited, in UTF-8. Lines end at LF, CRLF or CR.
struct EditedText: Sendable {
    private(set) var bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Replaces a range. A position beyond a line's end means that end, and one beyond the text means the text's end.
    mutating func replace(_ range: TextRange, with text: String, _ encoding: PositionEncoding) {
        let start = offset(of: range.start, encoding)
        let end = max(start, offset(of: range.end, encoding))
        bytes.replaceSubrange(start..<end, with: text.utf8)
    }

    private func offset(of position: TextPosition, _ encoding: PositionEncoding) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            var place = 0
            var line = 0
            while line < position.line, place < bytes.count {
                let byte = bytes[place]
                place += 1
                if byte == 0x0D, place < bytes.count, bytes[place] == 0x0A { place += 1 }
                if byte == 0x0A || byte == 0x0D { line += 1 }
            }
            guard line == position.line else { return bytes.count }
            var left = position.character
            while left > 0, place < bytes.count, bytes[place] != 0x0A, bytes[place] != 0x0D {
                let lead = bytes[place]
                let length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
                let width = encoding == .utf8 ? length : length == 4 ? 2 : 1
                // A position within a character means its start.
                guard width <= left else { break }
                left -= width
                place = min(place + length, bytes.count)
            }
            return place
        }
    }
}
