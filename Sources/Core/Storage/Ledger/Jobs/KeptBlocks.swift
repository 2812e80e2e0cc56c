import Platform

/// What the ledger knows about a note the agent writes into (`docs/design/stale-buffers.md`).
package struct NoteStateRecord: Sendable, Equatable {
    package struct Line: Sendable, Equatable {
        package var hash: UInt64
        package var first: Int64
        package var since: Int64
        package var gone: Int64?

        package init(hash: UInt64, first: Int64, since: Int64, gone: Int64? = nil) {
            self.hash = hash
            self.first = first
            self.since = since
            self.gone = gone
        }
    }

    /// Absolute.
    package var note: BytePath
    /// How many versions were seen or written.
    package var version: Int64
    /// The content of the last version; nil if unknown.
    package var hash: ContentHash?
    /// Lines that are not the agent's; nil if unknown.
    package var lines: [Line]?

    package init(note: BytePath, version: Int64, hash: ContentHash?, lines: [Line]?) {
        self.note = note
        self.version = version
        self.hash = hash
        self.lines = lines
    }
}

/// A block that the agent wrote into a note, while it is remembered.
package struct KeptBlockRecord: Sendable, Equatable {
    package var note: BytePath
    package var step: String
    package var token: String
    /// The block in the form in which it would be appended again, as the writer's JSON.
    package var request: String
    /// The versions that first contained it, that restored it, that first contained it since, and that lack it; 0 for
    /// none.
    package var first: Int64
    package var since: Int64
    package var holder: Int64?
    package var gone: Int64?
    /// The writer's term for its state; ``begun`` until the write that contains it has ended.
    package var fate: String
    /// Hashes of its lines.
    package var lines: [UInt64]

    package init(
        note: BytePath, step: String, token: String, request: String, first: Int64 = 0, since: Int64 = 0,
        holder: Int64? = nil,
        gone: Int64? = nil, fate: String = begun, lines: [UInt64] = []
    ) {
        self.note = note
        self.step = step
        self.token = token
        self.request = request
        self.first = first
        self.since = since
        self.holder = holder
        self.gone = gone
        self.fate = fate
        self.lines = lines
    }

    package static let begun = "begun"
    package static let there = "there"
}

extension LedgerTransaction {
    package func noteState(_ note: BytePath) throws -> NoteStateRecord? {
        try first("SELECT version, hash, lines FROM noteState WHERE note = ?", [note]) {
            NoteStateRecord(
                note: note, version: try $0["version"], hash: try $0["hash"],
                lines: try ($0["lines"] as [UInt8]?).map(Self.lines))
        }
    }

    private static let noteStateUpsert = upsert("noteState", key: ["note"], ["version", "hash", "lines"])

    package func setNoteState(_ state: NoteStateRecord) throws {
        try execute(Self.noteStateUpsert, [state.note, state.version, state.hash, state.lines.map(Self.blob)])
    }

    /// The hash of a note's last known version, without the other fields.
    package func lastNoteHash(_ note: BytePath) throws -> ContentHash? {
        try value("SELECT hash FROM noteState WHERE note = ?", [note])
    }

    package func keptBlocks(_ note: BytePath) throws -> [KeptBlockRecord] {
        try all("SELECT * FROM keptBlock WHERE note = ? ORDER BY since, step", [note], KeptBlockRecord.init(row:))
    }

    /// The blocks missing from a note's last known version.
    package func missingBlocks(_ note: BytePath) throws -> [KeptBlockRecord] {
        try all(
            "SELECT * FROM keptBlock WHERE note = ? AND fate <> 'there' ORDER BY since, step", [note],
            KeptBlockRecord.init(row:))
    }

    /// Blocks of all notes in any of these states.
    package func keptBlocks(fates: [String]) throws -> [KeptBlockRecord] {
        try all(
            "SELECT * FROM keptBlock WHERE fate IN (\(Self.marks(fates.count))) ORDER BY changed, note, step", fates,
            KeptBlockRecord.init(row:))
    }

    /// The notes with blocks that another program's save may lose, or has lost.
    package func keptNotes() throws -> [BytePath] {
        try values("SELECT DISTINCT note FROM keptBlock ORDER BY note")
    }

    private static let keptBlockColumns = [
        "note", "step", "token", "request", "first", "since", "holder", "gone", "fate", "lines", "changed",
    ]
    private static let keptBlockUpsert = upsert(
        "keptBlock", key: ["note", "step"], Array(keptBlockColumns.dropFirst(2)))
    private static let keptBlockInsert = """
        INSERT INTO keptBlock (\(keptBlockColumns.joined(separator: ", "))) VALUES (\(marks(keptBlockColumns.count)))
        ON CONFLICT (note, step) DO NOTHING
        """

    private static func arguments(_ block: KeptBlockRecord) -> [any SQLConvertible] {
        [
            block.note, block.step, block.token, block.request, block.first, block.since, block.holder, block.gone,
            block.fate, blob(block.lines), Timestamp.now(),
        ]
    }

    package func setKeptBlock(_ block: KeptBlockRecord) throws {
        try execute(Self.keptBlockUpsert, Self.arguments(block))
    }

    /// Remembers a block before the write that contains it; a known block stays as it is.
    ///
    /// - Parameter texts: those that the block's request refers to.
    package func beginKeptBlock(_ block: KeptBlockRecord, texts: [KeptText] = []) throws {
        guard try execute(Self.keptBlockInsert, Self.arguments(block)) > 0 else { return }
        for text in texts { try keep(text, as: .block, for: block.step) }
    }

    /// Records that a note contains the agent's `blocks`, none of them held by anyone else's version yet.
    package func noteHolds(_ note: BytePath, _ result: ContentHash, _ blocks: [NoteBlockRecord]) throws {
        try execute(
            """
            INSERT INTO noteState (note, version, hash, lines) VALUES (?, 1, ?, NULL)
            ON CONFLICT (note) DO UPDATE SET version = noteState.version + 1, hash = excluded.hash
            """, [note, result])
        guard !blocks.isEmpty, let version = try noteState(note)?.version else { return }
        for block in blocks {
            try execute(
                """
                UPDATE keptBlock SET fate = ?, token = ?, first = CASE first WHEN 0 THEN ? ELSE first END, since = ?,
                    holder = NULL, gone = NULL, changed = ?
                WHERE note = ? AND step = ?
                """,
                [
                    KeptBlockRecord.there, block.token, version, version, Timestamp.now(), note,
                    block.step,
                ])
        }
    }

    /// Forgets a block that the agent has removed.
    package func dropKeptBlock(_ note: BytePath, step: String) throws {
        try execute("DELETE FROM keptBlock WHERE note = ? AND step = ?", [note, step])
        try releaseTexts(of: step, [.block])
    }

    private static func blob(_ numbers: [UInt64]) -> [UInt8] {
        numbers.flatMap { withUnsafeBytes(of: $0.littleEndian) { Array($0) } }
    }

    private static func blob(_ lines: [NoteStateRecord.Line]) -> [UInt8] {
        blob(
            lines.flatMap {
                [
                    $0.hash, UInt64(bitPattern: $0.first), UInt64(bitPattern: $0.since),
                    UInt64(bitPattern: $0.gone ?? 0),
                ]
            })
    }

    private static func lines(_ blob: [UInt8]) -> [NoteStateRecord.Line] {
        let numbers = KeptBlockRecord.numbers(blob)
        return stride(from: 0, to: numbers.count - 3, by: 4).map {
            let gone = Int64(bitPattern: numbers[$0 + 3])
            return NoteStateRecord.Line(
                hash: numbers[$0], first: Int64(bitPattern: numbers[$0 + 1]), since: Int64(bitPattern: numbers[$0 + 2]),
                gone: gone == 0 ? nil : gone)
        }
    }
}

extension KeptBlockRecord {
    init(row: any SQLRow) throws {
        note = try row["note"]
        step = try row["step"]
        token = try row["token"]
        request = try row["request"]
        first = try row["first"]
        since = try row["since"]
        holder = try row["holder"]
        gone = try row["gone"]
        fate = try row["fate"]
        lines = Self.numbers(try row["lines"])
    }

    static func numbers(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count - 7, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
