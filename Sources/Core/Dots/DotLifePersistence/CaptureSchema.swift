import Foundation
import GRDB

/// The tables of the capture store (docs/design/dot-store.md): experiences and their attachments, the idempotency key,
/// the full-text index, and counts that make a year's grid fast.
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
        migrator.registerMigration("2 several attachments, their names, counts") { db in
            try attachments(db)
            try names(db)
            try counts(db)
        }
        migrator.registerMigration("3 captures of a folder") { db in
            try members(db)
        }
        return migrator
    }

    /// The contribution of each file of a dropped folder; `FolderMember` derives the capture's row from them.
    private static func members(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE member (
                    key TEXT NOT NULL PRIMARY KEY,
                    experienceID TEXT NOT NULL REFERENCES experience (id) ON DELETE CASCADE,
                    folder BLOB NOT NULL,
                    folderName TEXT NOT NULL,
                    arrival INTEGER NOT NULL,
                    isFirst INTEGER NOT NULL,
                    name BLOB NOT NULL,
                    timestamp INTEGER NOT NULL,
                    momentTypeRaw INTEGER NOT NULL,
                    words TEXT
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX member_by_folder ON member (folder, arrival);
                CREATE INDEX member_by_experience ON member (experienceID);
                ALTER TABLE attachment ADD COLUMN member TEXT;
                CREATE INDEX attachment_by_member ON attachment (member) WHERE member IS NOT NULL;
                """)
    }

    /// Several per capture, and several may share a file. `unused_file` lists files that a removal has yet to delete.
    private static func attachments(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE attachment_2 (
                    id TEXT NOT NULL PRIMARY KEY,
                    experienceID TEXT NOT NULL REFERENCES experience (id) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    typeRaw INTEGER NOT NULL,
                    localPath TEXT NOT NULL,
                    thumbnailPath TEXT,
                    originalName BLOB,
                    sha256 TEXT,
                    size INTEGER,
                    UNIQUE (experienceID, position)
                ) STRICT;
                INSERT INTO attachment_2 (id, experienceID, position, typeRaw, localPath, thumbnailPath)
                    SELECT id, experienceID, 0, typeRaw, localPath, thumbnailPath FROM attachment;
                DROP TABLE attachment;
                ALTER TABLE attachment_2 RENAME TO attachment;
                CREATE INDEX attachment_by_path ON attachment (localPath);
                CREATE INDEX attachment_by_thumbnail ON attachment (thumbnailPath);
                CREATE TABLE unused_file (
                    folder TEXT NOT NULL,
                    name TEXT NOT NULL,
                    PRIMARY KEY (folder, name)
                ) STRICT, WITHOUT ROWID;
                """)
    }

    /// `fileNames` repeats the attachments' names, one per line, for the index, which reads no other table.
    private static func names(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE experience ADD COLUMN fileNames TEXT")
        try db.dropFTS5SynchronizationTriggers(forTable: "experience_text")
        try db.drop(table: "experience_text")
        try db.create(virtualTable: "experience_text", using: FTS5()) { table in
            table.synchronize(withTable: "experience")
            table.tokenizer = .unicode61(diacritics: .remove)
            table.prefixes = [2, 3]
            table.column("noteText")
            table.column("linkURL")
            table.column("fileNames")
        }
    }

    /// The number of experiences in each quarter-hour since 1970. A year's grid then reads 35,040 rows at most,
    /// regardless of the number of experiences. Day boundaries fall on quarter-hours in every current zone.
    private static func counts(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE experience_count (quarter INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
                \(countAll);
                CREATE TRIGGER experience_count_insert AFTER INSERT ON experience BEGIN
                    INSERT INTO experience_count VALUES (\(quarter("new.timestamp")), 1)
                        ON CONFLICT (quarter) DO UPDATE SET count = count + 1;
                END;
                CREATE TRIGGER experience_count_delete AFTER DELETE ON experience BEGIN
                    UPDATE experience_count SET count = count - 1 WHERE quarter = \(quarter("old.timestamp"));
                    DELETE FROM experience_count WHERE quarter = \(quarter("old.timestamp")) AND count <= 0;
                END;
                CREATE TRIGGER experience_count_update AFTER UPDATE OF timestamp ON experience BEGIN
                    UPDATE experience_count SET count = count - 1 WHERE quarter = \(quarter("old.timestamp"));
                    DELETE FROM experience_count WHERE quarter = \(quarter("old.timestamp")) AND count <= 0;
                    INSERT INTO experience_count VALUES (\(quarter("new.timestamp")), 1)
                        ON CONFLICT (quarter) DO UPDATE SET count = count + 1;
                END;
                """)
    }

    /// Nanoseconds per quarter-hour.
    static let quarter: Int64 = 900_000_000_000

    /// Fills an empty `experience_count`.
    static let countAll = """
        INSERT INTO experience_count SELECT \(quarter("timestamp")), COUNT(*) FROM experience GROUP BY 1
        """

    /// The quarter-hour of a time, as SQL, where division rounds towards zero.
    static func quarter(_ time: String) -> String { "(\(time) / \(quarter) - (\(time) % \(quarter) < 0))" }
}

extension ExperienceRow {
    static let select = "SELECT experience.* FROM experience"
}
