import Ledger
import Platform
import Rules

/// A note as it was just read, beside what the ledger knew of it: which blocks are to be put back, and which stay out
/// (`docs/design/stale-buffers.md`). Reading it changes nothing; ``commit(in:)`` belongs into the transaction that
/// begins the write, so that nothing lies between the look and the write.
struct NoteSnapshot: Sendable {
    let note: BytePath
    /// The blocks that a save has lost and that are to be put back, oldest first.
    let lost: [NoteRequest]
    /// The blocks that this version lacks and the one before did not.
    let judged: [NoteMemory.Block]
    /// Tokens of blocks that are not in the note and may come back under them.
    private let absent: [String: String]
    private let hash: ContentHash?
    /// Nil where the note is as it was.
    private let memory: NoteMemory?
    private let known: [String: KeptBlockRecord]

    /// Blocks.
    ///
    /// - Parameters:
    ///   - now: the hash of what the note holds; nil where it is not there.
    ///   - bytes: gives what it holds: asked only where that is not what it held last.
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

    /// What is to be written when `requests` are asked for: the lost blocks come first, as they came first.
    func requests(with requests: [NoteRequest]) -> [NoteRequest] {
        let asked = Set(requests.map(\.step))
        return lost.filter { !asked.contains($0.step) } + requests
    }

    /// The tokens that blocks of other steps than these may come back under.
    func reserved(but requests: [NoteRequest]) -> Set<String> {
        let steps = Set(requests.map(\.step))
        return Set(absent.filter { !steps.contains($0.key) }.values)
    }

    /// Keeps what was seen.
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

    /// Remembers the blocks of a write that is being begun.
    static func begin(_ requests: [NoteRequest], _ blocks: [NoteBlockRecord], in transaction: LedgerTransaction) throws
    {
        let tokens = Dictionary(blocks.map { ($0.step, $0.token) }) { first, _ in first }
        for var request in requests {
            request.token = tokens[request.step] ?? request.token
            // What comes back comes into a note that is there, or with a block that brings its own.
            request.starter = IntentText("")
            let texts = NamedTexts()
            let json = try LedgerJSON.encode(request, naming: texts)
            try transaction.beginKeptBlock(
                KeptBlockRecord(
                    note: request.note, step: request.step, token: request.token, request: json,
                    lines: Array(NoteLines.hashes(of: request.content.text().utf8))), texts: texts.all)
        }
    }

    /// Keeps that the write has been done, and tells which blocks came back with it.
    func written(_ blocks: [NoteBlockRecord], _ result: ContentHash, in transaction: LedgerTransaction) throws {
        try transaction.noteHolds(note, result, blocks)
        let back = Set(lost.map(\.step))
        for block in blocks where back.contains(block.step) {
            try transaction.note(
                "restored", "the block ^\(block.token) was lost in a save that did not know it; it is back in \(note)",
                job: Self.job(block.step))
        }
    }

    /// What is said of a block that stays out; nil for one that does not.
    static func message(_ block: NoteMemory.Block, _ note: BytePath) -> String? {
        switch block.fate {
        case .removed: "the block ^\(block.token) was taken out of \(note); it stays out"
        case .out:
            "the block ^\(block.token) is missing in \(note), in a save that held what came after it; it stays out "
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
    /// One of a newer version's is left as it is.
    init(_ record: KeptBlockRecord) { self = NoteMemory.Fate(rawValue: record.fate) ?? .out }
}
