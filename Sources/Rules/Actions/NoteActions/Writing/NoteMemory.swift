/// What is known of a note and of the blocks that the agent wrote into it, and what somebody's save of it means for
/// them. Pure; the decision table is `docs/design/stale-buffers.md`.
package struct NoteMemory: Sendable, Equatable {
    package enum Fate: String, Sendable, CaseIterable {
        /// A write that holds it was begun.
        case begun
        /// The last known version holds it.
        case there
        /// A save that did not know it lost it: it is to be put back.
        case wiped
        /// Somebody who had it took it out.
        case removed
        /// A save lacks it that knew what came after it, though none before had held it: nobody but a person can tell.
        case out
    }

    package struct Block: Sendable, Equatable {
        package var step: String
        package var token: String
        /// The version that brought it first: whoever has it has known no older one.
        package var first: Int64
        /// The version that brought it, or brought it back, since when it was in all.
        package var since: Int64
        /// The first version of somebody else's since then that held it.
        package var holder: Int64?
        /// The version that lacks it.
        package var gone: Int64?
        package var fate: Fate

        package init(
            step: String, token: String, first: Int64, since: Int64, holder: Int64? = nil, gone: Int64? = nil,
            fate: Fate = .there
        ) {
            self.step = step
            self.token = token
            self.first = first
            self.since = since
            self.holder = holder
            self.gone = gone
            self.fate = fate
        }
    }

    /// A line that is not the agent's.
    package struct Line: Sendable, Equatable {
        /// The version that brought it first; 0 for one that may be older than all blocks.
        package var first: Int64
        /// The version that brought it, or brought it back.
        package var since: Int64
        /// The version that lacks it.
        package var gone: Int64?

        package init(first: Int64, since: Int64, gone: Int64? = nil) {
            self.first = first
            self.since = since
            self.gone = gone
        }
    }

    /// The number of the last known version.
    package private(set) var version: Int64
    package private(set) var blocks: [String: Block]
    /// By their hashes.
    package private(set) var lines: [UInt64: Line]
    /// Whether `lines` are those of the last known version; otherwise the next save's lines are taken for old ones.
    package private(set) var knowsLines: Bool
    /// The steps whose blocks are not as they were when this was made.
    package private(set) var changed: Set<String> = []

    package init(
        version: Int64 = 0, blocks: [Block] = [], lines: [UInt64: Line] = [:], knowsLines: Bool = false
    ) {
        self.version = version
        self.blocks = Dictionary(blocks.map { ($0.step, $0) }) { first, _ in first }
        self.lines = lines
        self.knowsLines = knowsLines
    }

    /// The blocks that are to be put back, in the order in which they came.
    package var wiped: [Block] {
        blocks.values.filter { $0.fate == .wiped }.sorted { ($0.since, $0.step) < ($1.since, $1.step) }
    }

    /// Records a version that somebody else made.
    ///
    /// - Returns: the blocks that it lacks and the version before did not, with what is to become of each.
    @discardableResult
    package mutating func see(_ save: NoteSight) -> [Block] {
        version += 1
        let newest = newest(in: save)
        let missing = blocks.values.filter { $0.fate == .there && !save.tokens.contains($0.token) }
            .sorted { ($0.since, $0.step) < ($1.since, $1.step) }
        // All are judged by what was known before any of them is changed.
        let judged = missing.map { block in
            var block = block
            block.fate = fate(of: block, save, newest)
            block.gone = version
            return block
        }
        for var block in blocks.values where save.tokens.contains(block.token) {
            switch block.fate {
            case .begun: continue
            case .there:
                guard block.holder == nil else { continue }
                block.holder = version
            case .wiped, .removed, .out:
                block.since = version
                block.holder = version
                block.gone = nil
                block.fate = .there
            }
            put(block)
        }
        judged.forEach { put($0) }
        record(lines: save.lines)
        return judged
    }

    /// Records that the note is not there: what somebody had held went with it.
    package mutating func seeNoNote() -> [Block] {
        let judged = see(NoteSight(tokens: [], lines: []))
        lines = [:]
        knowsLines = false
        return judged
    }

    /// Records that the agent wrote these blocks, new ones and such as came back.
    package mutating func wrote(_ written: [(step: String, token: String)]) {
        version += 1
        for (step, token) in written {
            put(Block(step: step, token: token, first: blocks[step]?.first ?? version, since: version))
        }
    }

    private mutating func put(_ block: Block) {
        guard blocks[block.step] != block else { return }
        blocks[block.step] = block
        changed.insert(block.step)
    }

    // MARK: The decision

    private func fate(of block: Block, _ save: NoteSight, _ newest: Int64) -> Fate {
        // Whoever has what came after it has had it.
        if newest >= block.since { return block.holder == nil ? .out : .removed }
        guard let holder = block.holder else { return .wiped }
        return isOlder(save, than: block, heldBy: holder, newest) ? .wiped : .removed
    }

    /// The youngest version that brought something which the save holds: whoever holds it has known that version, or
    /// has made it.
    private func newest(in save: NoteSight) -> Int64 {
        let line = save.lines.lazy.compactMap { self.lines[$0]?.first }.max()
        let block = blocks.values.lazy.filter { $0.fate != .begun && save.tokens.contains($0.token) }.map(\.first).max()
        return max(line ?? 0, block ?? 0)
    }

    /// Whether a save was evidently made from a version before `block` came, though a save in between held the block:
    /// it agrees with what was before in more than with what the holder brought and took.
    private func isOlder(
        _ save: NoteSight, than block: Block, heldBy holder: Int64, _ newest: Int64
    ) -> Bool {
        // An emptied note was made from whatever stood there last.
        guard !save.lines.isEmpty || !save.tokens.isEmpty else { return false }
        func isBetween(_ version: Int64?) -> Bool { version.map { $0 > block.since && $0 <= holder } ?? false }
        var old = 0
        var new = 0
        for (hash, line) in lines {
            let isHeld = save.lines.contains(hash)
            if isBetween(line.first), !isHeld { old += 1 }
            // What is no older than all that the save holds it may never have known.
            if isBetween(line.gone) { if isHeld { old += 1 } else if line.since < newest { new += 1 } }
        }
        // Who lacks a block that was taken out may have taken it out as well.
        old += blocks.values.count {
            $0.fate != .there && isBetween($0.gone) && save.tokens.contains($0.token)
        }
        return old > new
    }

    private mutating func record(lines now: Set<UInt64>) {
        for line in now {
            let known = lines[line]
            if let known, known.gone == nil { continue }
            let since = knowsLines ? version : 0
            lines[line] = Line(first: known?.first ?? since, since: since)
        }
        for (hash, line) in lines where line.gone == nil && !now.contains(hash) { lines[hash]?.gone = version }
        knowsLines = true
        // One that went may come back with an old buffer, and must not be taken for a new one then.
        let went = lines.filter { $0.value.gone != nil }
        guard went.count > NoteLines.limit else { return }
        let order = went.sorted { ($0.value.gone ?? 0, $0.key) < ($1.value.gone ?? 0, $1.key) }
        for (hash, _) in order.prefix(went.count - NoteLines.limit) { lines[hash] = nil }
    }
}

/// What a version of a note holds, as far as the guard asks.
package struct NoteSight: Sendable, Equatable {
    /// The anchors of all its blocks, without `^`.
    package var tokens: Set<String>
    /// Hashes of its lines that are not the agent's.
    package var lines: Set<UInt64>

    package init(tokens: Set<String>, lines: Set<UInt64>) {
        self.tokens = tokens
        self.lines = lines
    }

    /// - Parameter own: the hashes of lines of the agent's blocks.
    init(_ note: [UInt8], own: Set<UInt64>) {
        self.init(tokens: NoteText.tokens(note), lines: NoteLines.hashes(of: note).subtracting(own))
    }
}

/// The lines by which versions of a note are told apart.
enum NoteLines {
    /// A note of more lines is told by its last ones.
    static let limit = 8192

    /// Of the lines that say something: headings, anchors, rules and the like are the same in many versions, and are
    /// written by hand and by the agent alike.
    static func hashes(of note: some Sequence<UInt8>) -> Set<UInt64> {
        var found: [UInt64] = []
        for line in Array(note).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let text = line.drop(while: isBlank)
            let end = text.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? text.startIndex
            let trimmed = text[text.startIndex..<max(text.startIndex, end)]
            guard trimmed.count >= 6, trimmed.first != UInt8(ascii: "#"), trimmed.first != UInt8(ascii: "^"),
                trimmed.contains(where: isWord)
            else { continue }
            found.append(hash(trimmed))
        }
        return Set(found.suffix(limit))
    }

    /// FNV-1a: the same in every process.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...0xff:
            true
        default: false
        }
    }
}
