import Foundation

/// A block of a note, starting with an anchor line.
public struct AnchoredBlock: Equatable, Sendable {
    /// The block's anchor.
    public let token: AnchorToken
    /// The nearest H2 above, as written; nil if there is none.
    public let heading: String?
    /// The text after the token, on its line and below, up to the next anchor, H1, H2 or the end. Trailing blank lines
    /// are removed, lines are separated by LF, and there is no final newline.
    public let text: String
    /// Byte offsets into the note, from the single blank line before the anchor, if there is one, to the end of the
    /// last line that is not blank: removing these bytes undoes an append.
    public let range: Range<Int>

    /// Creates a block from its parts, unchecked.
    public init(token: AnchorToken, heading: String?, text: String, range: Range<Int>) {
        self.token = token
        self.heading = heading
        self.text = text
        self.range = range
    }
}

/// The anchors of a note.
public enum Anchors {
    /// Every anchored block, in the note's order: a line that begins with `^token`, followed by a blank or nothing,
    /// outside fenced code and front matter. Offsets count from the first byte of `bytes`, whatever its start index.
    public static func tokens(in bytes: Data) -> [AnchoredBlock] {
        var reader = AnchorReader(Array(bytes))
        var blocks: [AnchoredBlock] = []
        reader.read { blocks.append($0.block(of: $1)) }
        return blocks
    }

    /// Calls `body` with each block's token, without building the blocks.
    static func forEachToken(in bytes: [UInt8], _ body: (AnchorToken) -> Void) {
        var reader = AnchorReader(bytes)
        reader.read { body($1.token) }
    }

    /// The token of every line that begins like an anchor, including those in fenced code: only the text around `text`
    /// tells whether it is fenced.
    static func marks(in text: [UInt8]) -> [AnchorToken] {
        let reader = AnchorReader(text)
        var lines = Lines(text)
        var found: [AnchorToken] = []
        while let line = lines.next() {
            if let (token, _) = reader.anchor(on: line) { found.append(token) }
        }
        return found
    }

    /// A token that is free in the note: `token` itself, or else with the device as suffix (`__host`, then `__host-2`
    /// and so on), as the A4 protocol advises. An existing suffix is kept and only numbered.
    ///
    /// - Throws: `A4Error.invalidAnchor` if `device` is needed and is not a valid suffix.
    public static func available(_ token: AnchorToken, in bytes: Data, device: String) throws -> AnchorToken {
        let held = Set(tokens(in: bytes).map(\.token))
        guard held.contains(token) else { return token }
        let name = token.suffix ?? device
        var candidate = try AnchorToken(prefix: token.prefix, hhmm: token.hhmm, suffix: name)
        var count = 1
        while held.contains(candidate) {
            count += 1
            candidate = try AnchorToken(prefix: token.prefix, hhmm: token.hhmm, suffix: "\(name)-\(count)")
        }
        return candidate
    }
}

/// Finds a note's blocks in one pass.
private struct AnchorReader {
    struct Open {
        let token: AnchorToken
        let heading: String?
        let start: Int
        let textStart: Int
        /// The end of the last line that is not blank, with and without its line ending.
        var end: Int
        var textEnd: Int
    }

    private let bytes: [UInt8]
    private var open: Open?
    private var heading: String?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Calls `found` with each block, in the note's order.
    mutating func read(_ found: (AnchorReader, Open) -> Void) {
        var scanner = BlockScanner()
        var lines = Lines(bytes, from: Notes.frontMatterLength(bytes))
        var blankStart: Int?
        while let line = lines.next() {
            switch scanner.read(line, of: bytes) {
            case .heading(let level, let text) where level <= 2:
                close(found)
                if level == 2 { heading = String(decoding: bytes[text], as: UTF8.self) }
            case .text:
                if let (token, tokenEnd) = anchor(on: line) {
                    close(found)
                    open = Open(
                        token: token, heading: heading, start: blankStart ?? line.start, textStart: tokenEnd,
                        end: line.end, textEnd: line.textEnd)
                } else if !line.isBlank {
                    extend(to: line)
                }
            default:
                if !line.isBlank { extend(to: line) }
            }
            blankStart = line.isBlank ? line.start : nil
        }
        close(found)
    }

    private mutating func extend(to line: Line) {
        open?.end = line.end
        open?.textEnd = line.textEnd
    }

    private mutating func close(_ found: (AnchorReader, Open) -> Void) {
        guard let block = open else { return }
        open = nil
        found(self, block)
    }

    func block(of block: Open) -> AnchoredBlock {
        var text = TextBytes.normalized(Array(bytes[block.textStart..<block.textEnd]))[...]
        // The rest of the anchor's own line belongs to the text only if it is not blank.
        let firstLine = text.prefix { $0 != lineFeed }
        if firstLine.allSatisfy(Self.isBlank) {
            text = text.dropFirst(firstLine.count + 1)
        } else {
            text = text.drop(while: Self.isBlank)
        }
        return AnchoredBlock(
            token: block.token, heading: block.heading, text: String(decoding: text, as: UTF8.self),
            range: block.start..<block.end)
    }

    func anchor(on line: Line) -> (AnchorToken, end: Int)? {
        guard !line.isBlank, bytes[line.start] == UInt8(ascii: "^") else { return nil }
        let text = bytes[(line.start + 1)..<line.textEnd]
        let token = text.prefix { !Self.isBlank($0) }
        // An invalid token is ordinary text, so the error is dropped.
        guard let parsed = try? AnchorToken(parse: String(decoding: token, as: UTF8.self)) else { return nil }
        return (parsed, token.endIndex)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
