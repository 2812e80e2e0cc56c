import GRDB

/// The table of calls to models.
enum UsageSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 calls") { db in
            // Times are nanoseconds since 1970 UTC, money is billionths of a dollar.
            try db.execute(
                sql: """
                    CREATE TABLE call (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        started INTEGER NOT NULL,
                        finished INTEGER,
                        process TEXT NOT NULL,
                        provider TEXT NOT NULL,
                        model TEXT NOT NULL,
                        purpose TEXT NOT NULL,
                        state TEXT NOT NULL CHECK (state IN ('started', 'answered', 'failed', 'unknown')),
                        input INTEGER NOT NULL DEFAULT 0,
                        output INTEGER NOT NULL DEFAULT 0,
                        cache_read INTEGER NOT NULL DEFAULT 0,
                        cache_write INTEGER NOT NULL DEFAULT 0,
                        estimate INTEGER,
                        cost INTEGER
                    ) STRICT;
                    CREATE INDEX call_by_time ON call (started);
                    CREATE INDEX call_open ON call (process) WHERE state = 'started';
                    """)
        }
        return migrator
    }
}
