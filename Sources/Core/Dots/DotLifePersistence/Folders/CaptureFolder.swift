import DotLifeDomain
import Foundation
import GRDB

/// The folder with which a file was dropped, and when: files that came together are one capture.
package struct CaptureFolder: Hashable, Codable, Sendable {
    /// Tells it from all other folders, of other places too.
    package let key: [UInt8]
    /// What it is called: the capture's first line.
    package let name: String
    /// When the file came, in nanoseconds since 1970.
    package let arrival: Int64
    /// The longest time between a file and the next of one capture, in nanoseconds.
    package let within: Int64

    package init(key: [UInt8], name: String, arrival: Int64, within: Int64) {
        self.key = key
        self.name = name
        self.arrival = arrival
        self.within = within
    }
}

/// What one file of a folder gives to the capture: a row of `member`.
///
/// The capture's own row follows from its members alone, whichever came first, so that one can be taken back.
struct FolderMember {
    let key: String
    /// The attachment's file name, or the text's; members are told in its order.
    let name: [UInt8]
    let request: ExperienceRequest
    let attachments: [UUID]

    /// As many files as a request may have.
    static let limit = ExperienceRequest.attachmentLimit

    /// Bytes of a capture's words, as of a text that is a capture by itself.
    static let wordsLimit = CaptureReader.textLimit

    /// The capture that a file of `folder` with so many bytes of words joins; nil where none is near enough in time, or
    /// has room.
    static func capture(joinedBy folder: CaptureFolder, words: Int, _ db: Database) throws -> String? {
        let (first, last) = (
            folder.arrival.subtractingReportingOverflow(folder.within),
            folder.arrival.addingReportingOverflow(folder.within)
        )
        let near = try String.fetchAll(
            db,
            sql: """
                SELECT experienceID FROM member WHERE folder = ? AND arrival BETWEEN ? AND ?
                GROUP BY experienceID ORDER BY MIN(ABS(arrival - ?)), MIN(arrival), experienceID
                """,
            arguments: [
                Data(folder.key), first.overflow ? .min : first.partialValue,
                last.overflow ? .max : last.partialValue, folder.arrival,
            ])
        return try near.first { capture in
            let held = try Row.fetchOne(
                db,
                sql: """
                    SELECT COUNT(*) AS files, TOTAL(LENGTH(CAST(words AS BLOB))) AS words FROM member
                    WHERE experienceID = ?
                    """, arguments: [capture])
            guard let held else { return false }
            return held["files"] < limit && Int(held["words"] as Double) + words <= wordsLimit
        }
    }

    /// - Parameter isFirst: whether the capture was made for it.
    func insert(into capture: String, of folder: CaptureFolder, isFirst: Bool, _ db: Database) throws {
        guard let time = StoredTime.nanoseconds(request.timestamp ?? Date(timeIntervalSince1970: 0)) else {
            throw ExperienceError.invalidData("the time of the capture lies outside the years 1677 to 2262")
        }
        try db.execute(
            sql: """
                INSERT INTO member
                    (key, experienceID, folder, folderName, arrival, isFirst, name, timestamp, momentTypeRaw, words)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                key, capture, Data(folder.key), folder.name, folder.arrival, isFirst, Data(name), time,
                request.momentType.rawValue, request.noteText ?? request.linkURL,
            ])
        for attachment in attachments {
            try db.execute(
                sql: "UPDATE attachment SET member = ? WHERE id = ?", arguments: [key, attachment.uuidString])
        }
    }

    /// The capture that the file with this key belongs to, and whether it was made for it; nil where there is none.
    static func find(_ key: String, _ db: Database) throws -> (capture: String, isFirst: Bool)? {
        try Row.fetchOne(db, sql: "SELECT experienceID, isFirst FROM member WHERE key = ?", arguments: [key])
            .map { ($0["experienceID"], $0["isFirst"]) }
    }

    /// The ids of the attachments that the file with this key has brought.
    static func attachments(of key: String, _ db: Database) throws -> [UUID] {
        try String.fetchAll(db, sql: "SELECT id FROM attachment WHERE member = ?", arguments: [key])
            .compactMap { UUID(uuidString: $0) }
    }

    /// Makes the capture's row what its members say: it happened when the earliest of them did; its words are the
    /// folder's name and then theirs, each a paragraph; its moment is the first that is not `now`.
    static func derive(_ capture: String, _ db: Database) throws {
        let members = try Row.fetchAll(
            db,
            sql: """
                SELECT folderName, timestamp, momentTypeRaw, words FROM member WHERE experienceID = ? ORDER BY name, key
                """, arguments: [capture])
        guard let first = members.first else { return }
        let paragraphs = ([first["folderName"] as String] + members.compactMap { $0["words"] as String? })
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        let moments = members.map { MomentType(stored: Int16(exactly: $0["momentTypeRaw"] as Int64) ?? -1) }
        let names = try Data?.fetchAll(
            db, sql: "SELECT originalName FROM attachment WHERE experienceID = ? ORDER BY position",
            arguments: [capture])
        let type: ExperienceType = paragraphs.isEmpty ? .dot : .note
        try db.execute(
            sql: """
                UPDATE experience SET timestamp = ?, momentTypeRaw = ?, experienceTypeRaw = ?, noteText = ?, fileNames = ?
                WHERE id = ?
                """,
            arguments: [
                members.map { $0["timestamp"] as Int64 }.min(), (moments.first { $0 != .now } ?? .now).rawValue,
                type.rawValue, paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n\n"),
                ExperienceRow.fileNames(names.map { $0.map { Array($0) } }), capture,
            ])
    }
}
