import Foundation
import GRDB
import Platform

/// An in-place write into a note, complete before its first byte is written: from it a torn write is mended.
package struct NoteWriteRecord: Sendable, Equatable {
    package var id: Int64
    /// Absolute.
    package var note: BytePath
    package var device: UInt64
    package var inode: UInt64
    /// The whole content before and after.
    package var base: ContentHash
    package var result: ContentHash
    /// Where the tail begins, bytes from the start.
    package var position: Int64
    package var oldTail: [UInt8]
    package var newTail: [UInt8]
    /// The blocks it holds: the steps that asked for them, and their anchors.
    package var blocks: [NoteBlockRecord]
    package var isDone: Bool

    package init(
        note: BytePath, device: UInt64, inode: UInt64, base: ContentHash, result: ContentHash, position: Int64,
        oldTail: [UInt8], newTail: [UInt8], blocks: [NoteBlockRecord]
    ) {
        id = 0
        self.note = note
        self.device = device
        self.inode = inode
        self.base = base
        self.result = result
        self.position = position
        self.oldTail = oldTail
        self.newTail = newTail
        self.blocks = blocks
        isDone = false
    }
}

/// One block of an in-place write.
package struct NoteBlockRecord: Sendable, Equatable {
    package var step: String
    package var token: String
    /// The heading that was made for it; nil where it was there. Not read back: see ``LedgerTransaction/hasMadeHeading(_:in:)``.
    package var madeHeading: String?

    package init(step: String, token: String, madeHeading: String? = nil) {
        self.step = step
        self.token = token
        self.madeHeading = madeHeading
    }
}

extension LedgerTransaction {
    package func beginNoteWrite(_ write: NoteWriteRecord) throws -> Int64 {
        try execute(
            sql: """
                INSERT INTO noteWrite (note, device, inode, base, result, position, oldTail, newTail, begun)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                write.note.blob, Int64(bitPattern: write.device), Int64(bitPattern: write.inode), write.base.blob,
                write.result.blob, write.position, Data(write.oldTail), Data(write.newTail),
                Timestamp.now().nanoseconds,
            ])
        let id = db.lastInsertedRowID
        for block in write.blocks {
            try execute(
                sql: "INSERT OR REPLACE INTO noteBlock VALUES (?, ?, ?, ?)",
                arguments: [block.step, id, write.note.blob, block.token])
            if let heading = block.madeHeading {
                try setMeta(Self.headingKey(heading, write.note), Timestamp.now().description)
            }
        }
        return id
    }

    /// Whether a heading of a note was made by the agent, for a block of its own.
    package func hasMadeHeading(_ heading: String, in note: BytePath) throws -> Bool {
        try meta(Self.headingKey(heading, note)) != nil
    }

    /// Forgets that: the heading is gone again.
    package func forgetHeading(_ heading: String, in note: BytePath) throws {
        try setMeta(Self.headingKey(heading, note), nil)
    }

    /// Forgets headings that were made so long ago that no undo asks for them.
    func forgetHeadings(before: Timestamp) throws {
        try execute(
            sql: "DELETE FROM meta WHERE key >= 'heading:' AND key < 'heading;' AND value < ?",
            arguments: [before.description])
    }

    private static func headingKey(_ heading: String, _ note: BytePath) -> String {
        "heading:\(ContentHash(of: note.bytes + [0] + Array(heading.lowercased().utf8)))"
    }

    /// Marks it done and lets go of the tails.
    package func endNoteWrite(_ id: Int64) throws {
        try execute(sql: "UPDATE noteWrite SET done = 1, oldTail = x'', newTail = x'' WHERE id = ?", arguments: [id])
    }

    /// Forgets a write that never took effect.
    package func voidNoteWrite(_ id: Int64) throws {
        let blocks = try all("SELECT note, step FROM noteBlock WHERE noteWrite = ?", [id]) { row in
            (note: row["note"] as Data, step: row["step"] as String)
        }
        for (note, step) in blocks {
            try execute(
                sql: "DELETE FROM keptBlock WHERE note = ? AND step = ? AND fate = ?",
                arguments: [note, step, KeptBlockRecord.begun])
            if db.changesCount > 0 { try releaseTexts(of: step, [.block]) }
        }
        try execute(sql: "DELETE FROM noteBlock WHERE noteWrite = ?", arguments: [id])
        try execute(sql: "DELETE FROM noteWrite WHERE id = ?", arguments: [id])
    }

    /// The anchor that `step`'s block got, if a write that holds it has been done.
    package func noteBlock(step: String) throws -> NoteBlockRecord? {
        try String.fetchOne(
            cached("SELECT token FROM noteBlock JOIN noteWrite ON noteWrite.id = noteWrite WHERE step = ? AND done"),
            arguments: [step]
        ).map { NoteBlockRecord(step: step, token: $0) }
    }

    private func noteBlocks(write: Int64) throws -> [NoteBlockRecord] {
        try Row.fetchAll(cached("SELECT step, token FROM noteBlock WHERE noteWrite = ?"), arguments: [write])
            .map { NoteBlockRecord(step: $0["step"], token: $0["token"]) }
    }

    /// Writes that were begun and not ended, oldest first: at most one a note.
    package func openNoteWrites() throws -> [NoteWriteRecord] {
        try Row.fetchAll(cached("SELECT * FROM noteWrite WHERE done = 0 ORDER BY id")).compactMap(noteWrite)
    }

    /// Those into one note.
    package func openNoteWrites(_ note: BytePath) throws -> [NoteWriteRecord] {
        try Row.fetchAll(
            cached("SELECT * FROM noteWrite WHERE done = 0 AND note = ? ORDER BY id"), arguments: [note.blob]
        ).compactMap(noteWrite)
    }

    /// The note that `step`'s block was being written into by a write that was not ended.
    package func openNote(step: String) throws -> BytePath? {
        try Data.fetchOne(
            cached(
                "SELECT noteWrite.note FROM noteBlock JOIN noteWrite ON noteWrite.id = noteWrite "
                    + "WHERE step = ? AND NOT done"),
            arguments: [step]
        ).map(BytePath.init(blob:))
    }

    private func noteWrite(_ row: Row) throws -> NoteWriteRecord? {
        var record = NoteWriteRecord(row: row)
        if let id = record?.id { record?.blocks = try noteBlocks(write: id) }
        return record
    }

    /// Forgets that `step` has written a block: it has been taken out again.
    package func dropNoteBlock(step: String) throws {
        try execute(sql: "DELETE FROM noteBlock WHERE step = ?", arguments: [step])
    }
}

extension NoteWriteRecord {
    init?(row: Row) {
        guard let base = ContentHash(blob: row["base"]), let result = ContentHash(blob: row["result"]) else {
            return nil
        }
        id = row["id"]
        note = BytePath(blob: row["note"])
        device = UInt64(bitPattern: row["device"])
        inode = UInt64(bitPattern: row["inode"])
        self.base = base
        self.result = result
        position = row["position"]
        oldTail = Array(row["oldTail"] as Data)
        newTail = Array(row["newTail"] as Data)
        blocks = []
        isDone = row["done"]
    }
}
