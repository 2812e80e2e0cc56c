import GRDB
import Platform

/// A database as created by the first version of the store: its tables as in `sqlite_schema`, and some rows.
enum SchemaOne {
    static let noteID = "8C1F2E60-0000-4000-8000-000000000001"
    static let photoID = "8C1F2E60-0000-4000-8000-000000000002"
    static let photoName = "8c1f2e60-0000-4000-8000-000000000002.jpg"

    static func write(to path: BytePath) throws {
        let queue = try DatabaseQueue(path: path.text)
        try queue.write { try $0.execute(sql: tables + rows) }
        try queue.close()
    }

    private static let tables = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1 experiences and attachments');
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
        CREATE VIRTUAL TABLE "experience_text" USING fts5(noteText, linkURL,
            tokenize='''unicode61'' ''remove_diacritics'' ''2''', content='experience', content_rowid='serial');
        CREATE TRIGGER "__experience_text_ai" AFTER INSERT ON "experience" BEGIN
            INSERT INTO "experience_text"("rowid", "noteText", "linkURL")
                VALUES (new."serial", new."noteText", new."linkURL");
        END;
        CREATE TRIGGER "__experience_text_ad" AFTER DELETE ON "experience" BEGIN
            INSERT INTO "experience_text"("experience_text", "rowid", "noteText", "linkURL")
                VALUES('delete', old."serial", old."noteText", old."linkURL");
        END;
        CREATE TRIGGER "__experience_text_au" AFTER UPDATE ON "experience" BEGIN
            INSERT INTO "experience_text"("experience_text", "rowid", "noteText", "linkURL")
                VALUES('delete', old."serial", old."noteText", old."linkURL");
            INSERT INTO "experience_text"("rowid", "noteText", "linkURL")
                VALUES (new."serial", new."noteText", new."linkURL");
        END;

        """

    private static let rows = """
        INSERT INTO experience VALUES
            (1, '\(noteID)', 1795253400123456789, 1795253401000000001, 2, 0, 'Käsekuchen am See', NULL, 'job/1'),
            (2, '\(photoID)', -1, 1795253402000000000, 0, 1, NULL, NULL, 'job/2'),
            (7, '8C1F2E60-0000-4000-8000-000000000003', 1795253403000000000, 1795253403000000000, 9, 40, NULL,
                'https://example.org/weg', NULL);
        INSERT INTO attachment VALUES
            ('8C1F2E60-0000-4000-8000-00000000000A', '\(photoID)', 0, '\(photoName)', NULL);
        """
}
