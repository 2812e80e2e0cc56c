/// The known history of a note and of the agent's blocks in it. Decides what someone's save means for them. Pure; the
/// decision table is `docs/design/stale-buffers.md`.
package struct NoteMemory: Sendable, Equatable {
    package enum Fate: String, Sendable, CaseIterable {
        /// A write that contains it was begun.
        case begun
        /// In the last known version.
        case there
        /// Lost in a save from a stale buffer; it will be put back.
        case wiped
        /// Deliberately removed by someone whose version contained it.
        case removed
        /// Missing from a save that includes later content, although no earlier save contained it. Only a person can
        /// decide.
        case out
    }

    package struct Block: Sendable, Equatable {
        package var step: String
        package var token: String
        /// The first version that contained it. A save that contains it is not based on an older one.
        package var first: Int64
        /// The version that last added it; it has been present since.
        package var since: Int64
        /// The first version by someone else since then that contained it.
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
        /// The first version that contained it; 0 if it may be older than all blocks.
        package var first: Int64
        /// The version that last added it.
        package var since: Int64
        /// The version that lacks it.
        package var gone: Int64?

        package init(first: Int64, since: Int64, gone: Int64? = nil) {
            self.first = first
            self.since = since
            self.gone = gone
        }
    }

    /// Number of the last known version.
    package private(set) var version: Int64
    package private(set) var blocks: [String: Block]
    /// By their hashes.
    package private(set) var lines: [UInt64: Line]
    /// Whether `lines` are those of the last known version. If not, the next save's lines are treated as old.
    package private(set) var knowsLines: Bool
    /// Steps whose blocks changed since initialization.
    package private(set) var changed: Set<String> = []

    package init(
        version: Int64 = 0, blocks: [Block] = [], lines: [UInt64: Line] = [:], knowsLines: Bool = false
    ) {
        self.version = version
        self.blocks = Dictionary(blocks.map { ($0.step, $0) }) { first, _ in first }
        self.lines = lines
        self.knowsLines = knowsLines
    }

    /// The blocks to put back, oldest first.
    package var wiped: [Block] {
        blocks.values.filter { $0.fate == .wiped }.sorted { ($0.since, $0.step) < ($1.since, $1.step) }
    }

    /// Records a version made by someone else.
    ///
    /// - Returns: the blocks that it lacks and its predecessor had, each with its fate.
    @discardableResult
    package mutating func see(_ save: NoteSight) -> [Block] {
        version += 1
        let newest = newest(in: save)
        let missing = blocks.values.filter { $0.fate == .there && !save.tokens.contains($0.token) }
            .sorted { ($0.since, $0.step) < ($1.since, $1.step) }
        // Judge all by the previous state before changing any.
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

    /// Records that the note is missing, together with the blocks in it.
    package mutating func seeNoNote() -> [Block] {
        let judged = see(NoteSight(tokens: [], lines: []))
        lines = [:]
        knowsLines = false
        return judged
    }

    /// Records that the agent wrote these blocks, new or restored.
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
        // A save with later content comes from someone whose version contained the block.
        if newest >= block.since { return block.holder == nil ? .out : .removed }
        guard let holder = block.holder else { return .wiped }
        return isOlder(save, than: block, heldBy: holder, newest) ? .wiped : .removed
    }

    /// The newest version that introduced anything in the save. The save's author knew or made that version.
    private func newest(in save: NoteSight) -> Int64 {
        let line = save.lines.lazy.compactMap { self.lines[$0]?.first }.max()
        let block = blocks.values.lazy.filter { $0.fate != .begun && save.tokens.contains($0.token) }.map(\.first).max()
        return max(line ?? 0, block ?? 0)
    }

    /// Whether a save was evidently based on a version before `block`, although a save in between contained the block:
    /// it matches the older state more than the holder's changes.
    private func isOlder(
        _ save: NoteSight, than block: Block, heldBy holder: Int64, _ newest: Int64
    ) -> Bool {
        // An emptied note is based on the latest version.
        guard !save.lines.isEmpty || !save.tokens.isEmpty else { return false }
        func isBetween(_ version: Int64?) -> Bool { version.map { $0 > block.since && $0 <= holder } ?? false }
        var old = 0
        var new = 0
        for (hash, line) in lines {
            let isHeld = save.lines.contains(hash)
            if isBetween(line.first), !isHeld { old += 1 }
            // The save may never have known a line as new as its newest content.
            if isBetween(line.gone) { if isHeld { old += 1 } else if line.since < newest { new += 1 } }
        }
        // A removed block counts only if the save still has it. Its absence proves nothing: the author may have removed
        // it too.
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
        // Keep removed lines: if a stale buffer brings one back, it must not look new.
        let went = lines.filter { $0.value.gone != nil }
        guard went.count > NoteLines.limit else { return }
        let order = went.sorted { ($0.value.gone ?? 0, $0.key) < ($1.value.gone ?? 0, $1.key) }
        for (hash, _) in order.prefix(went.count - NoteLines.limit) { lines[hash] = nil }
    }
}

/// The parts of a note's version that the guard compares.
package struct NoteSight: Sendable, Equatable {
    /// The anchors of all its blocks, without `^`.
    package var tokens: Set<String>
    /// Hashes of the lines that are not the agent's.
    package var lines: Set<UInt64>

    package init(tokens: Set<String>, lines: Set<UInt64>) {
        self.tokens = tokens
        self.lines = lines
    }

    /// - Parameter own: hashes of the lines of the agent's blocks.
    init(_ note: [UInt8], own: Set<UInt64>) {
        self.init(tokens: NoteText.tokens(note), lines: NoteLines.hashes(of: note).subtracting(own))
    }
}

/// The lines that tell versions of a note apart.
enum NoteLines {
    /// Only the last lines of a longer note are used.
    static let limit = 8192

    /// Hashes of the meaningful lines. Headings, anchors, rules and the like are skipped: they recur in many versions,
    /// and both people and the agent write them.
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

    /// FNV-1a, which is stable across processes.
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
