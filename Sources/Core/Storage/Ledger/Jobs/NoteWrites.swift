import Foundation
import Platform

/// An in-place write into a note. Stored completely before its first byte is written, so that a torn write can be
/// repaired.
package struct NoteWriteRecord: Sendable, Equatable {
    package var id: Int64
    /// Absolute.
    package var note: BytePath
    package var device: UInt64
    package var inode: UInt64
    /// The entire content before and after.
    package var base: ContentHash
    package var result: ContentHash
    /// The tail's offset in bytes.
    package var position: Int64
    package var oldTail: [UInt8]
    package var newTail: [UInt8]
    /// Its blocks: the steps that requested them, and their anchors.
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
    /// The heading created for it; nil if there already was one. Not read back: see
    /// ``LedgerTransaction/hasMadeHeading(_:in:)``.
    package var madeHeading: String?

    package init(step: String, token: String, madeHeading: String? = nil) {
        self.step = step
        self.token = token
        self.madeHeading = madeHeading
    }
}

extension LedgerTransaction {
    private static let noteBlockUpsert = upsert("noteBlock", key: ["step"], ["noteWrite", "note", "token"])

    package func beginNoteWrite(_ write: NoteWriteRecord) throws -> Int64 {
        let id: Int64 = try inserted(
            """
            INSERT INTO noteWrite (note, device, inode, base, result, position, oldTail, newTail, begun)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """,
            [
                write.note, write.device, write.inode, write.base, write.result, write.position, write.oldTail,
                write.newTail, Timestamp.now(),
            ])
        for block in write.blocks {
            try execute(Self.noteBlockUpsert, [block.step, id, write.note, block.token])
            if let heading = block.madeHeading {
                try setMeta(Self.headingKey(heading, write.note), Timestamp.now().description)
            }
        }
        return id
    }

    /// Whether the agent created a heading of a note, for one of its blocks.
    package func hasMadeHeading(_ heading: String, in note: BytePath) throws -> Bool {
        try meta(Self.headingKey(heading, note)) != nil
    }

    /// Forgets a created heading that is gone again.
    package func forgetHeading(_ heading: String, in note: BytePath) throws {
        try setMeta(Self.headingKey(heading, note), nil)
    }

    /// Forgets created headings too old for any undo.
    package func forgetHeadings(before: Timestamp) throws {
        try execute(
            "DELETE FROM meta WHERE key >= 'heading:' AND key < 'heading;' AND value < ?",
            [before.description])
    }

    /// As A4 compares headings.
    private static func headingKey(_ heading: String, _ note: BytePath) -> String {
        let folded = heading.lowercased().precomposedStringWithCanonicalMapping
        return "heading:\(ContentHash(of: note.bytes + [0] + Array(folded.utf8)))"
    }

    /// Marks it done and drops the tails.
    package func endNoteWrite(_ id: Int64) throws {
        try execute("UPDATE noteWrite SET done = 1, oldTail = ?, newTail = ? WHERE id = ?", [[UInt8](), [UInt8](), id])
    }

    /// Forgets a write that had no effect.
    package func voidNoteWrite(_ id: Int64) throws {
        let blocks = try all("SELECT note, step FROM noteBlock WHERE noteWrite = ?", [id]) { row in
            try (note: row["note"] as BytePath, step: row["step"] as String)
        }
        for (note, step) in blocks {
            let dropped = try execute(
                "DELETE FROM keptBlock WHERE note = ? AND step = ? AND fate = ?", [note, step, KeptBlockRecord.begun])
            if dropped > 0 { try releaseTexts(of: step, [.block]) }
        }
        try execute("DELETE FROM noteBlock WHERE noteWrite = ?", [id])
        try execute("DELETE FROM noteWrite WHERE id = ?", [id])
    }

    /// The anchor of `step`'s block, if a write that contains it is done.
    package func noteBlock(step: String) throws -> NoteBlockRecord? {
        try first(
            "SELECT token FROM noteBlock JOIN noteWrite ON noteWrite.id = noteWrite WHERE step = ? AND done = 1", [step]
        ) { NoteBlockRecord(step: step, token: try $0["token"]) }
    }

    private func noteBlocks(write: Int64) throws -> [NoteBlockRecord] {
        try all("SELECT step, token FROM noteBlock WHERE noteWrite = ?", [write]) {
            NoteBlockRecord(step: try $0["step"], token: try $0["token"])
        }
    }

    /// Unfinished writes, oldest first: at most one per note.
    package func openNoteWrites() throws -> [NoteWriteRecord] {
        try all("SELECT * FROM noteWrite WHERE done = 0 ORDER BY id", [], noteWrite)
    }

    /// The unfinished writes into one note.
    package func openNoteWrites(_ note: BytePath) throws -> [NoteWriteRecord] {
        try all("SELECT * FROM noteWrite WHERE done = 0 AND note = ? ORDER BY id", [note], noteWrite)
    }

    /// The note into which an unfinished write was putting `step`'s block.
    package func openNote(step: String) throws -> BytePath? {
        try value(
            "SELECT noteWrite.note FROM noteBlock JOIN noteWrite ON noteWrite.id = noteWrite WHERE step = ? AND done = 0",
            [step])
    }

    private func noteWrite(_ row: any SQLRow) throws -> NoteWriteRecord {
        var record = try NoteWriteRecord(row: row)
        record.blocks = try noteBlocks(write: record.id)
        return record
    }

    /// Forgets that `step` has written a block that was removed again.
    package func dropNoteBlock(step: String) throws {
        try execute("DELETE FROM noteBlock WHERE step = ?", [step])
    }
}

extension NoteWriteRecord {
    init(row: any SQLRow) throws {
        id = try row["id"]
        note = try row["note"]
        device = try row["device"]
        inode = try row["inode"]
        base = try row["base"]
        result = try row["result"]
        position = try row["position"]
        oldTail = try row["oldTail"]
        newTail = try row["newTail"]
        blocks = []
        isDone = try row["done"]
    }
}
