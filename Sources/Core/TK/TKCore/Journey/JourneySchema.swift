import GRDB

/// The tables of conversations.
enum JourneySchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 projects, documents, journeys, conversations") { db in
            // Paths are bytes; times are nanoseconds since 1970 UTC.
            try db.execute(
                sql: """
                    CREATE TABLE project (
                        id TEXT NOT NULL PRIMARY KEY,
                        name TEXT NOT NULL,
                        folder BLOB UNIQUE,
                        opened INTEGER NOT NULL
                    ) STRICT;
                    CREATE TABLE document (
                        id TEXT NOT NULL PRIMARY KEY,
                        project TEXT REFERENCES project (id) ON DELETE SET NULL,
                        path BLOB UNIQUE,
                        title TEXT NOT NULL,
                        text_hash TEXT NOT NULL,
                        words INTEGER NOT NULL,
                        created INTEGER NOT NULL,
                        modified INTEGER NOT NULL,
                        journey TEXT NOT NULL
                    ) STRICT;
                    CREATE INDEX document_by_time ON document (modified);
                    CREATE TABLE conversation (
                        id TEXT NOT NULL PRIMARY KEY,
                        role TEXT NOT NULL,
                        document TEXT REFERENCES document (id) ON DELETE CASCADE,
                        created INTEGER NOT NULL
                    ) STRICT;
                    CREATE INDEX conversation_by_document ON conversation (document, role, created);
                    CREATE TABLE message (
                        id TEXT NOT NULL PRIMARY KEY,
                        conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
                        position INTEGER NOT NULL,
                        question TEXT NOT NULL,
                        answer TEXT NOT NULL,
                        time INTEGER NOT NULL,
                        UNIQUE (conversation, position)
                    ) STRICT;
                    """)
        }
        migrator.registerMigration("2 conversations alone") { db in
            // Journeys are in the states of reviews. Nothing was ever in the other tables.
            try db.execute(
                sql: """
                    CREATE TABLE kept (
                        id TEXT NOT NULL PRIMARY KEY,
                        role TEXT NOT NULL,
                        created INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO kept SELECT id, role, created FROM conversation ORDER BY rowid;
                    DROP TABLE conversation;
                    ALTER TABLE kept RENAME TO conversation;
                    CREATE INDEX conversation_by_role ON conversation (role, created);
                    DROP TABLE document;
                    DROP TABLE project;
                    """)
        }
        return migrator
    }
}
