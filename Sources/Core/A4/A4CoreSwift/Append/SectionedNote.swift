/// A note split at its H1 and H2 headings, so that a block can be inserted at the end of any section without moving the
/// rest.
///
/// The sections form a list in the note's order, with long ones in several parts. Every line is read once; only a block
/// that changes the meaning of the lines *after* it (by opening a fence, or closing front matter) causes the note to be
/// read again.
struct SectionedNote {
    /// A section, or a part of one.
    private struct Section {
        var bytes: [UInt8]
        var next: Int?
        /// Whether the next one is a part of the same section.
        var goesOn = false
    }

    /// From this size in bytes, lines go into another part: a growing array is copied, and briefly exists twice.
    private static let longPart = 1 << 18

    private var header: [UInt8] = []
    private var sections: [Section] = []
    private var last = 0
    /// The first section of each H2.
    private var firstSection: [HeadingKey: Int] = [:]
    /// The state at the end of the note, for appended lines.
    private var scanner = BlockScanner()
    /// How often the note has been read: more than once if a block has changed the meaning of the lines before or after
    /// it.
    private(set) var readings = 1
    /// The note begins with the opening fence of front matter, not closed yet.
    private var hasOpenFrontMatter = false

    /// Splits a note; its body gets LF endings and a final newline.
    init(_ note: [UInt8]) {
        let cut = Notes.frontMatterLength(note)
        header = Array(note[..<cut])
        var body = TextBytes.normalized(Array(note[cut...]))
        if !body.isEmpty { body = TextBytes.endedByNewline(body) }
        // With LF endings and a final newline some bodies become front matter, as the next program to read it will see.
        let late = header.isEmpty ? Notes.frontMatterLength(body) : 0
        if late > 0 {
            header = Array(body[..<late])
            body.removeFirst(late)
        }
        hasOpenFrontMatter = header.isEmpty && body.starts(with: Notes.openingFence)
        sections = [Section(bytes: [], next: nil)]
        extend(body)
    }

    /// The whole note.
    var bytes: [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(sections.reduce(header.count) { $0 + $1.bytes.count })
        forEachPart { all += $0 }
        return all
    }

    /// Whether the whole note equals these bytes.
    func isMade(of bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        var isSame = true
        forEachPart { part in
            isSame = isSame && rest.starts(with: part)
            rest = rest.dropFirst(part.count)
        }
        return isSame && rest.isEmpty
    }

    /// The note in consecutive parts.
    func forEachPart(_ body: ([UInt8]) throws -> Void) rethrows {
        try body(header)
        var index: Int? = 0
        while let current = index {
            try body(sections[current].bytes)
            index = sections[current].next
        }
    }

    mutating func append(_ block: Append.Prepared) {
        append(block.text, under: block.heading, block.key, block.placement)
    }

    private mutating func append(
        _ block: [UInt8], under heading: String, _ key: HeadingKey, _ placement: Placement
    ) {
        if placement == .endOfSection, let section = firstSection[key].map(lastPart), section != last {
            insert(block, atEndOf: section)
        } else {
            if firstSection[key] == nil { extend(Headings.insertion(of: heading)) }
            extend((endsInBlankLine ? [] : [lineFeed]) + block)
        }
        if hasOpenFrontMatter, Notes.frontMatterLength(Notes.openingFence + block) > 0 { readAgain() }
    }

    /// Whether a section has this heading.
    func holds(_ key: HeadingKey) -> Bool { firstSection[key] != nil }

    private var endsInBlankLine: Bool {
        sections[last].bytes.suffix(2).elementsEqual([lineFeed, lineFeed])
    }

    private func lastPart(of section: Int) -> Int {
        var part = section
        while sections[part].goesOn, let next = sections[part].next { part = next }
        return part
    }

    /// Appends whole lines to a section.
    ///
    /// - Parameter part: the section's last part.
    /// - Returns: its last part afterwards.
    private mutating func add(_ lines: [UInt8], to part: Int) -> Int {
        // The last two bytes of a part tell whether the note ends in a blank line. No part consists of blank lines
        // only, because added lines always contain a block.
        guard sections[part].bytes.count >= Self.longPart, lines.count > 1 else {
            sections[part].bytes += lines
            return part
        }
        sections.append(Section(bytes: lines, next: sections[part].next))
        sections[part].next = sections.count - 1
        sections[part].goesOn = true
        return sections.count - 1
    }

    /// Appends whole lines to the note.
    private mutating func extend(_ text: [UInt8]) {
        let parts = Self.cut(text, &scanner)
        last = add(parts.lead, to: last)
        for part in parts.sections {
            let index = sections.count
            sections.append(Section(bytes: part.bytes, next: nil))
            sections[last].next = index
            last = index
            if let key = part.key, firstSection[key] == nil { firstSection[key] = index }
        }
    }

    /// Appends a block to a section that is followed by another.
    ///
    /// - Parameter section: its last part.
    private mutating func insert(_ block: [UInt8], atEndOf section: Int) {
        Self.dropBlankLines(&sections[section].bytes)
        var text = [lineFeed] + block
        Self.dropBlankLines(&text)
        text.append(lineFeed)
        // No fence is open here, because a heading follows.
        var inner = BlockScanner()
        let parts = Self.cut(text, &inner)
        let following = sections[section].next
        var previous = add(parts.lead, to: section)
        for part in parts.sections {
            let index = sections.count
            sections.append(Section(bytes: part.bytes, next: following))
            sections[previous].next = index
            previous = index
            if let key = part.key, isFirst(index, key, before: following) { firstSection[key] = index }
        }
        if inner.isInFence { readAgain() }
    }

    private mutating func readAgain() {
        let before = readings
        self = SectionedNote(bytes)
        readings = before + 1
    }

    /// Whether a new section just before `following` is the first one of its key.
    private func isFirst(_ index: Int, _ key: HeadingKey, before following: Int?) -> Bool {
        guard let known = firstSection[key] else { return true }
        var later = following
        while let current = later {
            if current == known { return true }
            later = sections[current].next
        }
        return false
    }

    /// Splits whole lines at each H1 and H2. `lead` is the text before the first; only an H2 has a key.
    private static func cut(
        _ text: [UInt8], _ scanner: inout BlockScanner
    ) -> (lead: [UInt8], sections: [(key: HeadingKey?, bytes: [UInt8])]) {
        var starts: [(at: Int, key: HeadingKey?)] = []
        var lines = Lines(text)
        while let line = lines.next() {
            if case .heading(let level, let name) = scanner.read(line, of: text), level <= 2 {
                starts.append((line.start, level == 2 ? HeadingKey(text[name]) : nil))
            }
        }
        let ends = starts.dropFirst().map(\.at) + [text.count]
        let lead = Array(text[..<(starts.first?.at ?? text.count)])
        return (lead, zip(starts, ends).map { ($0.key, Array(text[$0.at..<$1])) })
    }

    private static func dropBlankLines(_ bytes: inout [UInt8]) {
        while bytes.suffix(2).elementsEqual([lineFeed, lineFeed]) { bytes.removeLast() }
    }
}
