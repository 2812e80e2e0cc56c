import Foundation
import GRDB
import Platform

/// A cache of files' content hashes, so that listing a large library does not reread every comic.
///
/// Good enough for a listing only: before anything is written or removed, the file is reread.
enum KnownContents {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("known contents") { db in
            // Without ctime: a rename changes it, and a renamed comic keeps its place.
            try db.execute(
                sql: """
                    CREATE TABLE known (
                        device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL,
                        modified INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (device, inode)) WITHOUT ROWID;
                    CREATE INDEX knownByContent ON known (content);
                    """)
        }
    }
}

extension ProgressService {
    /// Records the content of a file that was just read completely.
    package func remember(_ content: ContentHash, of file: Fingerprint) async throws {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size, file.modified,
                    Data(content.bytes),
                ])
        }
    }

    /// The cached hash of each file; nil if it was never read here, or has changed since.
    package func known(_ files: [Fingerprint]) async throws -> [ContentHash?] {
        try await read { db in
            let statement = try db.makeStatement(
                sql: "SELECT content FROM known WHERE device = ? AND inode = ? AND size = ? AND modified = ?")
            return try files.map { file in
                let found = try Data.fetchOne(
                    statement,
                    arguments: [
                        Int64(bitPattern: file.device), Int64(bitPattern: file.inode), file.size, file.modified,
                    ])
                return found.flatMap { ContentHash(bytes: Array($0)) }
            }
        }
    }

    /// The sizes of all comics with progress, a bookmark or a favourite's mark, as far as their files were read. A file
    /// of any other size is not one of them.
    package func sizesOfKept() async throws -> Set<Int64> {
        try await read { db in
            Set(
                try Int64.fetchAll(
                    db,
                    sql: """
                        SELECT DISTINCT size FROM known WHERE content IN (
                            SELECT content FROM progress UNION SELECT content FROM bookmark
                            UNION SELECT content FROM favourite)
                        """))
        }
    }

    /// Records a comic's new path; a no-op if nothing is stored about it.
    package func relocate(_ content: ContentHash, to path: BytePath) async throws {
        try await write { db in
            for table in ["progress", "favourite"] {
                try db.execute(
                    sql: "UPDATE \(table) SET path = ? WHERE content = ?",
                    arguments: [Data(path.bytes), Data(content.bytes)])
            }
        }
    }
}
