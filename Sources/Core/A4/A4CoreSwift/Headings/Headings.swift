import Foundation

/// The H2 headings of blocks (docs/design/a4.md).
public enum Headings {
    /// Ensures that `textBytes` has the heading `## {heading}`: if it is missing, exactly `\n## {heading}\n\n` is
    /// appended; otherwise the bytes are returned unchanged.
    ///
    /// A heading is CommonMark's ATX H2 outside fenced code and front matter. The comparison ignores case, blanks
    /// around the text and closing `#`s.
    ///
    /// - Throws: `A4Error.encoding` for bytes that are not UTF-8 and for a heading that is empty or has several lines.
    public static func ensureH2(textBytes: Data, heading: String) throws -> Data {
        let bytes = Array(textBytes)
        try TextBytes.requireUTF8(bytes, "the note")
        let wanted = try HeadingKey(heading)
        var scanner = BlockScanner()
        var lines = Lines(bytes, from: Notes.frontMatterLength(bytes))
        while let line = lines.next() {
            if case .heading(2, let text) = scanner.read(line, of: bytes), HeadingKey(bytes[text]) == wanted {
                return textBytes
            }
        }
        return textBytes + Data(insertion(of: heading))
    }

    static func insertion(of heading: String) -> [UInt8] { Array("\n## \(heading)\n\n".utf8) }

    /// Reverts ``insertion(of:)``, if the section is empty.
    ///
    /// - Returns: nil if it is not, or there is no such heading.
    package static func removing(_ heading: String, from bytes: [UInt8]) -> [UInt8]? {
        guard let wanted = try? HeadingKey(heading) else { return nil }
        var scanner = BlockScanner()
        var lines = Lines(bytes, from: Notes.frontMatterLength(bytes))
        var start: Int?
        var isEmpty = true
        while let line = lines.next() {
            let read = scanner.read(line, of: bytes)
            if case .heading(let level, let text) = read, level <= 2 {
                if let start { return isEmpty ? removing(start..<line.start, from: bytes) : nil }
                if level == 2, HeadingKey(bytes[text]) == wanted { start = line.start }
            } else if start != nil, !bytes[line.start..<line.textEnd].allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                isEmpty = false
            }
        }
        guard let start, isEmpty else { return nil }
        return removing(start..<bytes.count, from: bytes)
    }

    /// - Parameter section: the heading with the blank lines below it.
    private static func removing(_ section: Range<Int>, from bytes: [UInt8]) -> [UInt8] {
        var rest = Array(bytes[..<section.lowerBound])
        if rest.suffix(2).elementsEqual([lineFeed, lineFeed]) { rest.removeLast() }
        let following = bytes[section.upperBound...]
        return rest + (rest.isEmpty || following.isEmpty ? [] : [lineFeed]) + following
    }
}

/// A heading's text for comparison, ignoring case and Unicode composition.
struct HeadingKey: Hashable {
    private let folded: String

    init(_ text: some Collection<UInt8>) {
        folded = String(decoding: text, as: UTF8.self).lowercased()
    }

    /// The key of the line `## {heading}` as read from a note, so that an inserted heading is found again (`Topic #`
    /// reads as `Topic`).
    ///
    /// - Throws: `A4Error.encoding` if that line would not be a heading with text.
    init(_ heading: String) throws {
        let line = Array("## \(heading)".utf8)
        var lines = Lines(line)
        var scanner = BlockScanner()
        guard let first = lines.next(), first.end == line.count, first.textEnd == line.count else {
            throw A4Error.encoding(
                "the heading \(heading.debugDescription) has more than one line; give one line of text")
        }
        guard case .heading(2, let text) = scanner.read(first, of: line), !text.isEmpty else {
            throw A4Error.encoding("the heading \(heading.debugDescription) has no text; give it a name")
        }
        self.init(line[text])
    }
}
