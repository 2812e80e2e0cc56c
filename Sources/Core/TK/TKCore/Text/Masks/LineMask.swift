/// Masks a line-based format: its readers classify each line, and the prose between becomes blocks.
struct LineMask {
    /// The kind of a line.
    enum Line {
        case blank
        /// The words in the range, which continue those of the line before.
        case prose(Range<Int>)
        /// The first words of a list item or a definition.
        case item(Range<Int>)
        case heading(Range<Int>)
        /// No part of it is prose.
        case kept(DraftMask.Kind)
    }

    /// A mark within a line of words, with its end.
    struct Span: Sendable {
        var range: Range<Int>
        var kind: DraftMask.Kind
    }

    let draft: DraftText
    var scalars: [Unicode.Scalar] { draft.scalars }

    /// Reads all lines in order, then masks the marks among the words.
    ///
    /// - Parameters:
    ///   - read: classifies a line, without trailing white space, given its default kind; called once for each, in
    ///     order.
    ///   - marks: the marks in a block of words, in order; adds what it examines to the steps.
    func run(
        _ builder: inout MaskBuilder, _ read: (_ line: Int, _ text: Range<Int>, _ usual: Line) -> Line,
        _ marks: (Range<Int>, _ steps: inout Int) -> [Span]
    ) {
        var block: (range: Range<Int>, kind: DraftMask.Block.Kind, lines: [Range<Int>])?
        func close(_ builder: inout MaskBuilder) {
            guard let found = block else { return }
            block = nil
            for (index, line) in found.lines.enumerated() {
                builder.paint(line, .prose)
                // The line break belongs to the words on both its sides.
                guard index + 1 < found.lines.count else { continue }
                let end = draft.range(ofLine: draft.line(at: line.lowerBound)).upperBound
                builder.paint(line.upperBound..<end, .prose)
            }
            builder.blocks.append(DraftMask.Block(kind: found.kind, range: found.range))
            var inline = InlineMasker(syntax: .plain, range: found.range)
            inline.run(&builder)
            for span in marks(found.range, &builder.steps) { builder.paint(span.range, span.kind) }
        }
        for line in 1...max(1, draft.lineCount) {
            var text = draft.textRange(ofLine: line)
            while let last = text.last, scalars[last] == " " || scalars[last] == "\t" { text.removeLast() }
            switch text.isEmpty ? read(line, text, .blank) : read(line, text, .prose(text)) {
            case .blank: close(&builder)
            case .kept(let kept):
                close(&builder)
                builder.paint(draft.range(ofLine: line), kept)
            case .heading(let words):
                close(&builder)
                block = (words, .heading, [words])
                close(&builder)
            case .item(let words):
                close(&builder)
                if !words.isEmpty { block = (words, .paragraph, [words]) }
            case .prose(let words):
                guard !words.isEmpty else { continue }
                if let start = block?.range.lowerBound {
                    block?.range = start..<words.upperBound
                    block?.lines.append(words)
                } else {
                    block = (words, .paragraph, [words])
                }
            }
        }
        close(&builder)
    }

    // MARK: Reading a line

    func text(_ range: Range<Int>) -> String { draft[range] }

    /// Without leading white space.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, scalars[first] == " " || scalars[first] == "\t" { range.removeFirst() }
        return range
    }

    func starts(_ range: Range<Int>, with text: String) -> Bool {
        scalars[range].starts(with: text.unicodeScalars)
    }

    /// Whether a line consists of a single mark, repeated at least this often.
    func isRun(_ range: Range<Int>, of marks: String, atLeast count: Int) -> Bool {
        guard range.count >= count, let first = range.first, marks.unicodeScalars.contains(scalars[first]) else {
            return false
        }
        return range.allSatisfy { scalars[$0] == scalars[first] }
    }

    /// The text after a list item's mark; nil for another line.
    func item(_ range: Range<Int>, bullets: String) -> Range<Int>? {
        var index = range.lowerBound
        while index < range.upperBound, scalars[index].value &- 48 < 10 { index += 1 }
        if index > range.lowerBound {
            guard index < range.upperBound, scalars[index] == "." || scalars[index] == ")" else { return nil }
            index += 1
        } else {
            while index < range.upperBound, bullets.unicodeScalars.contains(scalars[index]) { index += 1 }
            guard index > range.lowerBound else { return nil }
        }
        guard index < range.upperBound, scalars[index] == " " || scalars[index] == "\t" else { return nil }
        return trimmed(index..<range.upperBound)
    }
}

/// A format's marks within its words: pairs that enclose kept text, and names before brackets.
struct MarkScan: Sendable {
    /// The text between an opening and a closing mark is kept, including both.
    struct Pair: Sendable {
        var open: String
        var close: String
        var kind: DraftMask.Kind
        /// A mark in the middle of a word, or followed by a space, does not count.
        var isTight = false
    }

    let pairs: [Pair]
    /// Reads any other mark at a position, not before the end of the one before: its range and its kind.
    var other:
        @Sendable (_ index: Int, _ scalars: [Unicode.Scalar], _ range: Range<Int>, _ brackets: inout BracketPairs) ->
            LineMask.Span? = { _, _, _, _ in nil }

    /// The marks in a range, without overlaps. In linear time: an unclosed mark is searched for once.
    ///
    /// - Parameter steps: grows by the scalars that are examined in search of closing marks.
    func spans(in scalars: [Unicode.Scalar], _ range: Range<Int>, _ steps: inout Int) -> [LineMask.Span] {
        var brackets = BracketPairs(range)
        defer { steps += brackets.steps }
        var found: [LineMask.Span] = []
        var unclosed: Set<Int> = []
        var index = range.lowerBound
        next: while index < range.upperBound {
            if let span = other(index, scalars, range, &brackets) {
                found.append(span)
                index = max(index + 1, span.range.upperBound)
                continue
            }
            for (number, pair) in pairs.enumerated()
            where !unclosed.contains(number) && scalars[index..<range.upperBound].starts(with: pair.open.unicodeScalars)
            {
                let inside = index + pair.open.unicodeScalars.count
                if pair.isTight, !Self.opens(index, inside, scalars, range) { continue }
                let closing = Self.end(of: pair, from: inside, scalars, range)
                steps += (closing ?? range.upperBound) - index
                guard let end = closing else {
                    unclosed.insert(number)
                    continue
                }
                found.append(LineMask.Span(range: index..<end, kind: pair.kind))
                index = end
                continue next
            }
            index += 1
        }
        return found
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    private static func opens(_ start: Int, _ inside: Int, _ scalars: [Unicode.Scalar], _ range: Range<Int>) -> Bool {
        guard inside < range.upperBound, !scalars[inside].properties.isWhitespace else { return false }
        return start == range.lowerBound || !isWord(scalars[start - 1])
    }

    private static func end(
        of pair: Pair, from inside: Int, _ scalars: [Unicode.Scalar], _ range: Range<Int>
    ) -> Int? {
        let close = Array(pair.close.unicodeScalars)
        var index = inside
        while index + close.count <= range.upperBound {
            if index > inside, scalars[index..<index + close.count].elementsEqual(close) {
                let end = index + close.count
                let closes =
                    !scalars[index - 1].properties.isWhitespace && (end == range.upperBound || !isWord(scalars[end]))
                if !pair.isTight || closes { return end }
            }
            index += 1
        }
        return nil
    }
}
