import DotLifeDomain
import Foundation
import GRDB

/// The folder in which a file was dropped, and the time: files that arrive together form one capture.
package struct CaptureFolder: Hashable, Codable, Sendable {
    /// Identifies the folder across all places.
    package let key: [UInt8]
    /// Its name: the capture's first line.
    package let name: String
    /// When the file arrived, in nanoseconds since 1970.
    package let arrival: Int64
    /// The maximum gap between files of one capture, in nanoseconds.
    package let within: Int64

    package init(key: [UInt8], name: String, arrival: Int64, within: Int64) {
        self.key = key
        self.name = name
        self.arrival = arrival
        self.within = within
    }
}

/// The contribution of one file of a folder to its capture: a row of `member`.
///
/// The capture's own row is derived from its members alone, regardless of their order of arrival, so that each can be
/// reverted.
struct FolderMember {
    let key: String
    /// The name of the attachment or the text file; members are ordered by it.
    let name: [UInt8]
    let request: ExperienceRequest
    let attachments: [UUID]

    /// The same limit as for a request.
    static let limit = ExperienceRequest.attachmentLimit

    /// The maximum bytes of a capture's text, as for a text that is a capture on its own.
    static let wordsLimit = CaptureReader.textLimit

    /// The capture that a file of `folder` with this many bytes of text joins; nil if none is near enough in time, or
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

    /// - Parameter isFirst: whether the capture was created for it.
    func insert(into capture: String, of folder: CaptureFolder, isFirst: Bool, _ db: Database) throws {
        guard let time = StoredTime.nanoseconds(request.timestamp ?? Date(timeIntervalSince1970: 0)) else {
            throw ExperienceError.invalidData("the time of the capture is outside the years 1677 to 2262")
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

    /// The capture of the file with this key, and whether it was created for it; nil if there is none.
    static func find(_ key: String, _ db: Database) throws -> (capture: String, isFirst: Bool)? {
        try Row.fetchOne(db, sql: "SELECT experienceID, isFirst FROM member WHERE key = ?", arguments: [key])
            .map { ($0["experienceID"], $0["isFirst"]) }
    }

    /// The ids of the attachments from the file with this key.
    static func attachments(of key: String, _ db: Database) throws -> [UUID] {
        try String.fetchAll(db, sql: "SELECT id FROM attachment WHERE member = ?", arguments: [key])
            .compactMap { UUID(uuidString: $0) }
    }

    /// Derives the capture's row from its members: its time is the earliest of theirs; its text is the folder's name
    /// and then their texts, each a paragraph; its moment is the first that is not `now`.
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
