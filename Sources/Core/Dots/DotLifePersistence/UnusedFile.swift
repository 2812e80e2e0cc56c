import DotLifeDomain
import GRDB
import Platform

/// A file whose last row is gone: recorded in the transaction that removed the row, so that a crash right after it does
/// not leave a deleted picture behind forever.
struct UnusedFile {
    let folder: PhotoFolder.Kind
    let name: String
    /// Whether a later capture uses the same file after all.
    let isUsed: Bool

    static func note(_ file: AttachmentRecord, _ db: Database) throws {
        try note(.photos, file.localPath, db)
        if let name = file.thumbnailPath { try note(.thumbnails, name, db) }
    }

    static func note(_ folder: PhotoFolder.Kind, _ name: String, _ db: Database) throws {
        guard PhotoFolder.isName(name) else { return }
        try db.execute(
            sql: "INSERT OR IGNORE INTO unused_file (folder, name) VALUES (?, ?)", arguments: [folder.rawValue, name])
    }

    static func all(_ db: Database) throws -> [UnusedFile] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT folder, name, CASE folder
                    WHEN 'photos' THEN EXISTS (SELECT 1 FROM attachment WHERE localPath = name)
                    ELSE EXISTS (SELECT 1 FROM attachment WHERE thumbnailPath = name) END AS isUsed
                FROM unused_file
                """
        ).compactMap { row in
            PhotoFolder.Kind(rawValue: row["folder"]).map {
                UnusedFile(folder: $0, name: row["name"], isUsed: row["isUsed"])
            }
        }
    }

    func forget(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM unused_file WHERE folder = ? AND name = ?", arguments: [folder.rawValue, name])
    }
}
