import Ledger
import Platform
import Rules

/// A note as just read, compared with the ledger's knowledge: which blocks to put back and which stay out
/// (`docs/design/stale-buffers.md`). Creating it has no side effects. Call ``commit(in:)`` in the transaction that
/// begins the write, so that nothing can happen between look and write.
struct NoteSnapshot: Sendable {
    let note: BytePath
    /// Lost blocks to put back, oldest first.
    let lost: [NoteRequest]
    /// The blocks that this version lacks and its predecessor had.
    let judged: [NoteMemory.Block]
    /// Tokens of absent blocks that may come back under them, by step.
    private let absent: [String: String]
    private let hash: ContentHash?
    /// nil if the note is unchanged.
    private let memory: NoteMemory?
    private let known: [String: KeptBlockRecord]

    /// Blocks.
    ///
    /// - Parameters:
    ///   - now: hash of the note's content; nil if it does not exist.
    ///   - bytes: reads the content; called only if it differs from the last known version.
    init(_ note: BytePath, _ now: ContentHash?, _ ledger: Ledger, bytes: () throws -> [UInt8]) throws {
        self.note = note
        let (isAsItWas, state, kept) = try ledger.readBlocking { transaction in
            try now != nil && transaction.lastNoteHash(note) == now
                ? (true, nil, transaction.missingBlocks(note))
                : (false, transaction.noteState(note), transaction.keptBlocks(note))
        }
        var seen: NoteMemory?
        var judged: [NoteMemory.Block] = []
        if !isAsItWas {
            var memory = NoteMemory(state, kept)
            judged =
                now == nil
                ? memory.seeNoNote() : memory.see(NoteSight(try bytes(), own: Set(kept.flatMap(\.lines))))
            seen = memory
        }
        let fates = Dictionary(
            kept.map { ($0.step, seen?.blocks[$0.step]?.fate ?? NoteMemory.Fate($0)) }
        ) { first, _ in first }
        hash = now
        memory = seen
        self.judged = judged
        known = Dictionary(kept.map { ($0.step, $0) }) { first, _ in first }
        absent = Dictionary(kept.filter { fates[$0.step] != .there }.map { ($0.step, $0.token) }) { first, _ in first }
        lost = try kept.filter { fates[$0.step] == .wiped }.map { record in
            let texts = try ledger.readBlocking { try $0.texts(ofBlock: record.step) }
            var request = try LedgerJSON.decode(NoteRequest.self, from: record.request, knowing: texts)
            request.token = record.token
            return request
        }
    }

    /// Everything to write along with `requests`. Lost blocks come first, because they are older.
    func requests(with requests: [NoteRequest]) -> [NoteRequest] {
        let asked = Set(requests.map(\.step))
        return lost.filter { !asked.contains($0.step) } + requests
    }

    /// Tokens that blocks of other steps may come back under.
    func reserved(but requests: [NoteRequest]) -> Set<String> {
        let steps = Set(requests.map(\.step))
        return Set(absent.filter { !steps.contains($0.key) }.values)
    }

    /// Stores the observations.
    func commit(in transaction: LedgerTransaction) throws {
        guard let memory else { return }
        try transaction.setNoteState(
            NoteStateRecord(
                note: note, version: memory.version, hash: hash,
                lines: memory.knowsLines
                    ? memory.lines.map {
                        NoteStateRecord.Line(
                            hash: $0.key, first: $0.value.first, since: $0.value.since, gone: $0.value.gone)
                    } : nil))
        for step in memory.changed {
            guard let block = memory.blocks[step], var record = known[step] else { continue }
            record.first = block.first
            record.since = block.since
            record.holder = block.holder
            record.gone = block.gone
            record.fate = block.fate.rawValue
            try transaction.setKeptBlock(record)
        }
        for block in judged {
            guard let message = Self.message(block, note) else { continue }
            try transaction.note("removed", message, job: Self.job(block.step))
        }
    }

    /// Records the blocks of a write that is beginning.
    static func begin(_ requests: [NoteRequest], _ blocks: [NoteBlockRecord], in transaction: LedgerTransaction) throws
    {
        let tokens = Dictionary(blocks.map { ($0.step, $0.token) }) { first, _ in first }
        for var request in requests {
            request.token = tokens[request.step] ?? request.token
            // A restored block needs no starter: its note exists, or a new block brings one.
            request.starter = IntentText("")
            let texts = NamedTexts()
            let json = try LedgerJSON.encode(request, naming: texts)
            try transaction.beginKeptBlock(
                KeptBlockRecord(
                    note: request.note, step: request.step, token: request.token, request: json,
                    lines: Array(NoteLines.hashes(of: request.content.text().utf8))), texts: texts.all)
        }
    }

    /// Records that the write is done, and notes which blocks it restored.
    func written(_ blocks: [NoteBlockRecord], _ result: ContentHash, in transaction: LedgerTransaction) throws {
        try transaction.noteHolds(note, result, blocks)
        let back = Set(lost.map(\.step))
        for block in blocks where back.contains(block.step) {
            try transaction.note(
                "restored", "the block ^\(block.token) was lost in a save of an older text; it was restored in \(note)",
                job: Self.job(block.step))
        }
    }

    /// The message about a block that stays out; nil for any other.
    static func message(_ block: NoteMemory.Block, _ note: BytePath) -> String? {
        switch block.fate {
        case .removed: "the block ^\(block.token) was removed from \(note); it stays out"
        case .out:
            "the block ^\(block.token) is missing from \(note) since a save that has later content; it was not restored "
                + "(`steward blocks restore ^\(block.token)` puts it back)"
        case .begun, .there, .wiped: nil
        }
    }

    static func job(_ step: String) -> String? { step.split(separator: ".").first.map(String.init) }
}

extension NoteMemory {
    init(_ state: NoteStateRecord?, _ kept: [KeptBlockRecord]) {
        let lines = (state?.lines ?? []).map { ($0.hash, Line(first: $0.first, since: $0.since, gone: $0.gone)) }
        self.init(
            version: state?.version ?? 0,
            blocks: kept.map {
                Block(
                    step: $0.step, token: $0.token, first: $0.first, since: $0.since, holder: $0.holder, gone: $0.gone,
                    fate: Fate($0))
            },
            lines: Dictionary(lines) { first, _ in first }, knowsLines: state?.lines != nil)
    }
}

extension KeptBlockRecord {
    var isWiped: Bool { NoteMemory.Fate(self) == .wiped }
}

extension NoteMemory.Fate {
    /// An unknown fate from a newer version is treated as `out`.
    init(_ record: KeptBlockRecord) { self = NoteMemory.Fate(rawValue: record.fate) ?? .out }
}
