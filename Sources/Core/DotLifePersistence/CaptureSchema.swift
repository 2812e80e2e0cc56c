import Foundation
import GRDB

/// The tables of the capture store: the seed's two entities (section 9), the key that makes adding idempotent, and the
/// full-text index.
enum CaptureSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 experiences and attachments") { db in
            // `serial` is the row id: the full-text index refers to it, and VACUUM may renumber an undeclared one.
            try db.execute(
                sql: """
                    CREATE TABLE experience (
                        serial INTEGER PRIMARY KEY,
                        id TEXT NOT NULL UNIQUE,
                        timestamp INTEGER NOT NULL,
                        createdAt INTEGER NOT NULL,
                        momentTypeRaw INTEGER NOT NULL,
                        experienceTypeRaw INTEGER NOT NULL,
                        noteText TEXT,
                        linkURL TEXT,
                        capture_key TEXT UNIQUE
                    ) STRICT;
                    CREATE INDEX experience_by_time ON experience (timestamp, serial);
                    CREATE TABLE attachment (
                        id TEXT NOT NULL PRIMARY KEY,
                        experienceID TEXT NOT NULL UNIQUE REFERENCES experience (id) ON DELETE CASCADE,
                        typeRaw INTEGER NOT NULL,
                        localPath TEXT NOT NULL UNIQUE,
                        thumbnailPath TEXT
                    ) STRICT;
                    """)
            try db.create(virtualTable: "experience_text", using: FTS5()) { table in
                table.synchronize(withTable: "experience")
                table.tokenizer = .unicode61(diacritics: .remove)
                table.column("noteText")
                table.column("linkURL")
            }
        }
        return migrator
    }
}

/// Times as the store keeps them: nanoseconds since 1970, UTC.
enum StoredTime {
    /// - Returns: nil outside the years 1678 to 2261, which 64 bits do not hold.
    static func nanoseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 8.2e9 else { return nil }
        // Whole seconds and fraction apart: their product with 10⁹ would not fit a Double's 53 bits.
        let whole = seconds.rounded(.down)
        return (Int64(whole) + 978_307_200) * 1_000_000_000 + Int64(((seconds - whole) * 1e9).rounded())
    }

    static func date(_ nanoseconds: Int64) -> Date {
        let fraction = ((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000
        let whole = (nanoseconds - fraction) / 1_000_000_000 - 978_307_200
        return Date(timeIntervalSinceReferenceDate: Double(whole) + Double(fraction) / 1e9)
    }
}

extension ExperienceRow {
    static let select = """
        SELECT experience.*, attachment.localPath, attachment.thumbnailPath
        FROM experience LEFT JOIN attachment ON attachment.experienceID = experience.id
        """
}
