/// The byte range of a note's front matter (docs/design/front-matter.md). Does not interpret it.
package struct FrontMatterSpan: Equatable, Sendable {
    /// The syntax indicated by the fences.
    package enum Syntax: Sendable {
        /// `---` to `---` or `...`.
        case yaml
        /// `+++` to `+++`.
        case toml
    }

    /// Which lines count as fences.
    package enum Fences: Sendable {
        /// As in Pandoc, Jekyll and Obsidian: with any line ending (or none at the end of the note), optional blanks
        /// after the marks, and after a byte order mark. If no metadata follows, they are thematic breaks.
        case usual
        /// As in the A4 format: `---` and LF exactly, whatever follows.
        case a4
    }

    package let syntax: Syntax
    /// The text between the fences: whole lines.
    package let inner: Range<Int>
    /// Where the note continues, after the closing fence and its line ending.
    package let end: Int
    /// The number of lines, including both fences.
    package let lineCount: Int

    /// nil if the note has no front matter. Takes linear time.
    package init?(_ note: Span<UInt8>, fences: Fences = .usual) {
        let opening = NoteLine(at: fences == .usual ? Self.markLength(note) : 0, of: note, fences)
        guard let syntax = opening.opens(note, fences) else { return nil }
        var line = opening
        var count = 1
        var isMetadata = fences == .a4
        while line.end < note.count {
            line = NoteLine(at: line.end, of: note, fences)
            count += 1
            if line.closes(note, fences, syntax) {
                self.syntax = syntax
                inner = opening.end..<line.start
                end = line.end
                lineCount = count
                return
            }
            if isMetadata { continue }
            switch line.content(of: note, syntax) {
            case .comment: break
            case .key: isMetadata = true
            // A thematic break has a blank line below it.
            case .blank: if count == 2 { return nil }
            case .other: return nil
            }
        }
        return nil
    }

    /// Whether a line, with or without its ending, ends YAML between the usual fences.
    package static func endsYAML(_ line: Span<UInt8>) -> Bool {
        NoteLine(at: 0, of: line, .usual).closes(line, .usual, .yaml)
    }

    private static func markLength(_ note: Span<UInt8>) -> Int {
        note.count >= 3 && note[0] == 0xEF && note[1] == 0xBB && note[2] == 0xBF ? 3 : 0
    }
}

/// One line of a note.
private struct NoteLine {
    let start: Int
    /// Before the line ending; between usual fences, before any trailing blanks.
    let textEnd: Int
    /// After the line ending.
    let end: Int

    /// What the first lines between the fences show about the rest.
    enum Content {
        case blank, comment, key, other
    }

    init(at start: Int, of note: Span<UInt8>, _ fences: FrontMatterSpan.Fences) {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        let isUsual = fences == .usual
        var index = start
        while index < note.count, note[index] != lineFeed, !isUsual || note[index] != carriageReturn { index += 1 }
        self.start = start
        if index == note.count {
            end = index
        } else {
            let isPair = note[index] == carriageReturn && index + 1 < note.count && note[index + 1] == lineFeed
            end = index + (isPair ? 2 : 1)
        }
        while isUsual, index > start, Self.isBlank(note[index - 1]) { index -= 1 }
        textEnd = index
    }

    func opens(_ note: Span<UInt8>, _ fences: FrontMatterSpan.Fences) -> FrontMatterSpan.Syntax? {
        switch mark(in: note, fences) {
        case UInt8(ascii: "-"): .yaml
        case UInt8(ascii: "+") where fences == .usual: .toml
        default: nil
        }
    }

    func closes(_ note: Span<UInt8>, _ fences: FrontMatterSpan.Fences, _ syntax: FrontMatterSpan.Syntax) -> Bool {
        guard let mark = mark(in: note, fences) else { return false }
        return switch syntax {
        case .yaml: mark == UInt8(ascii: "-") || mark == UInt8(ascii: ".") && fences == .usual
        case .toml: mark == UInt8(ascii: "+")
        }
    }

    /// The byte that makes up the line, exactly three times.
    private func mark(in note: Span<UInt8>, _ fences: FrontMatterSpan.Fences) -> UInt8? {
        guard textEnd - start == 3, fences == .usual || end > textEnd else { return nil }
        let mark = note[start]
        return note[start + 1] == mark && note[start + 2] == mark ? mark : nil
    }

    func content(of note: Span<UInt8>, _ syntax: FrontMatterSpan.Syntax) -> Content {
        var first = start
        while first < textEnd, Self.isBlank(note[first]) { first += 1 }
        guard first < textEnd else { return .blank }
        if note[first] == UInt8(ascii: "#") { return .comment }
        if syntax == .toml, note[first] == UInt8(ascii: "[") { return .key }
        let sign = syntax == .yaml ? UInt8(ascii: ":") : UInt8(ascii: "=")
        return (first..<textEnd).contains { note[$0] == sign } ? .key : .other
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
