import DotLifeDomain
import Foundation
import GRDB

/// One row of `experience`, and those of `attachment` that belong to it.
struct ExperienceRow {
    static func find(key: String, _ db: Database) throws -> ExperienceRecord? {
        try one("WHERE capture_key = ?", [key], db)
    }

    static func find(id: UUID, _ db: Database) throws -> ExperienceRecord? {
        try one("WHERE experience.id = ?", [id.uuidString], db)
    }

    /// For a single row; its statements stay cached, because preparing them takes longer than running them.
    private static func one(
        _ rest: String, _ arguments: StatementArguments, _ db: Database
    ) throws -> ExperienceRecord? {
        let statement = try db.cachedStatement(sql: select + " " + rest)
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
        let files = try db.cachedStatement(sql: "SELECT * FROM attachment WHERE experienceID = ? ORDER BY position")
        return try record(row, Row.fetchAll(files, arguments: [row["id"] as String]).map(attachment))
    }

    /// - Parameter rest: the SQL after `FROM experience`.
    static func all(_ rest: String, _ arguments: StatementArguments, _ db: Database) throws -> [ExperienceRecord] {
        let rows = try Row.fetchAll(db, sql: select + " " + rest, arguments: arguments)
        let files = try attachments(of: rows.map { $0["id"] }, db)
        return try rows.map { try record($0, files[$0["id"]] ?? []) }
    }

    private static func record(_ row: Row, _ attachments: [AttachmentRecord]) throws -> ExperienceRecord {
        ExperienceRecord(
            id: try uuid(row["id"]), timestamp: StoredTime.date(row["timestamp"]),
            createdAt: StoredTime.date(row["createdAt"]),
            momentType: MomentType(stored: Int16(exactly: row["momentTypeRaw"] as Int64) ?? -1),
            experienceType: ExperienceType(stored: Int16(exactly: row["experienceTypeRaw"] as Int64) ?? -1),
            noteText: row["noteText"], linkURL: row["linkURL"], attachments: attachments)
    }

    private static func uuid(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "the id of an experience or attachment is no UUID")
        }
        return id
    }

    /// For many experiences at once, in their order.
    private static func attachments(
        of ids: [String], _ db: Database
    ) throws -> [String: [AttachmentRecord]] {
        var found: [String: [AttachmentRecord]] = [:]
        for start in stride(from: 0, to: ids.count, by: 500) {
            let part = ids[start..<min(start + 500, ids.count)]
            let marks = Array(repeating: "?", count: part.count).joined(separator: ", ")
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM attachment WHERE experienceID IN (\(marks)) ORDER BY experienceID, position",
                arguments: StatementArguments(part))
            while let row = try rows.next() { found[row["experienceID"], default: []].append(try attachment(row)) }
        }
        return found
    }

    static func attachment(_ row: Row) throws -> AttachmentRecord {
        AttachmentRecord(
            id: try uuid(row["id"]),
            type: AttachmentType(stored: Int16(exactly: row["typeRaw"] as Int64) ?? -1), localPath: row["localPath"],
            thumbnailPath: row["thumbnailPath"], originalName: (row["originalName"] as Data?).map { Array($0) },
            sha256: row["sha256"], size: row["size"], position: row["position"])
    }

    /// The indexed text of the attachments' names.
    static func fileNames(_ names: [[UInt8]?]) -> String? {
        let known = names.compactMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
        return known.isEmpty ? nil : known.joined(separator: "\n")
    }

    /// - Returns: the record as later reads return it: times are stored in whole nanoseconds.
    static func insert(_ record: ExperienceRecord, key: String?, _ db: Database) throws -> ExperienceRecord {
        guard let timestamp = StoredTime.nanoseconds(record.timestamp),
            let createdAt = StoredTime.nanoseconds(record.createdAt)
        else {
            throw ExperienceError.invalidData("the time of the capture is outside the years 1677 to 2262")
        }
        try db.cachedStatement(sql: insertExperience).execute(
            arguments: [
                record.id.uuidString, timestamp, createdAt, record.momentType.rawValue, record.experienceType.rawValue,
                record.noteText, record.linkURL, key, fileNames(record.attachments.map(\.originalName)),
            ])
        for file in record.attachments { try insert(file, at: file.position, of: record.id.uuidString, db) }
        return ExperienceRecord(
            id: record.id, timestamp: StoredTime.date(timestamp), createdAt: StoredTime.date(createdAt),
            momentType: record.momentType, experienceType: record.experienceType, noteText: record.noteText,
            linkURL: record.linkURL, attachments: record.attachments)
    }

    static func insert(_ file: AttachmentRecord, at position: Int, of experience: String, _ db: Database) throws {
        try db.cachedStatement(sql: insertAttachment).execute(
            arguments: [
                file.id.uuidString, experience, position, file.type.rawValue, file.localPath, file.thumbnailPath,
                file.originalName.map { Data($0) }, file.sha256, file.size,
            ])
    }

    static let insertExperience = """
        INSERT INTO experience
            (id, timestamp, createdAt, momentTypeRaw, experienceTypeRaw, noteText, linkURL, capture_key, fileNames)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    static let insertAttachment = """
        INSERT INTO attachment
            (id, experienceID, position, typeRaw, localPath, thumbnailPath, originalName, sha256, size)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
}
