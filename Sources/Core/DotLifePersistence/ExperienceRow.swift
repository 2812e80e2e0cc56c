import DotLifeDomain
import Foundation
import GRDB

/// One row of `experience` with its attachment's file names.
struct ExperienceRow {
    let record: ExperienceRecord

    init(_ row: Row) throws {
        guard let id = UUID(uuidString: row["id"]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an experience's id is no UUID")
        }
        record = ExperienceRecord(
            id: id, timestamp: StoredTime.date(row["timestamp"]), createdAt: StoredTime.date(row["createdAt"]),
            momentType: MomentType(stored: Int16(exactly: row["momentTypeRaw"] as Int64) ?? -1),
            experienceType: ExperienceType(stored: Int16(exactly: row["experienceTypeRaw"] as Int64) ?? -1),
            noteText: row["noteText"], linkURL: row["linkURL"], photoLocalPath: row["localPath"],
            photoThumbnailPath: row["thumbnailPath"])
    }

    static func find(key: String, _ db: Database) throws -> ExperienceRecord? {
        try all("WHERE capture_key = ?", [key], db).first
    }

    static func find(id: UUID, _ db: Database) throws -> ExperienceRecord? {
        try all("WHERE experience.id = ?", [id.uuidString], db).first
    }

    /// - Parameter rest: what follows `FROM` and its join.
    static func all(_ rest: String, _ arguments: StatementArguments, _ db: Database) throws -> [ExperienceRecord] {
        try Row.fetchAll(db, sql: select + " " + rest, arguments: arguments).map { try ExperienceRow($0).record }
    }

    static func insert(_ record: ExperienceRecord, key: String?, _ db: Database) throws {
        guard let timestamp = StoredTime.nanoseconds(record.timestamp),
            let createdAt = StoredTime.nanoseconds(record.createdAt)
        else {
            throw ExperienceError.invalidData("the time of the capture lies outside the years 1678 to 2261")
        }
        try db.execute(
            sql: """
                INSERT INTO experience
                    (id, timestamp, createdAt, momentTypeRaw, experienceTypeRaw, noteText, linkURL, capture_key)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.id.uuidString, timestamp, createdAt, record.momentType.rawValue, record.experienceType.rawValue,
                record.noteText, record.linkURL, key,
            ])
        guard let photo = record.photoLocalPath else { return }
        try db.execute(
            sql: "INSERT INTO attachment (id, experienceID, typeRaw, localPath, thumbnailPath) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                UUID().uuidString, record.id.uuidString, AttachmentType.photo.rawValue, photo,
                record.photoThumbnailPath,
            ])
    }
}
