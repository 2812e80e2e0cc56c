import Foundation
import GRDB
import Platform

/// Which files were found to hold which content, so that a listing of a large library does not read every comic to
/// find those that have been read.
///
/// Good enough for a listing only: what is written or removed is decided by reading the file again.
enum KnownContents {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("known contents") { db in
            // Without the time of the last change: a rename changes it, and a renamed comic keeps its place.
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
    /// Notes that a file was just read from its beginning to its end, and what it held.
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

    /// What each file held when it was last read here; nil for one that was not, or that has changed since.
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

    /// The sizes of all comics of which something is kept here, as far as a file of theirs was read: progress, a bookmark,
    /// a favourite's mark. A file of another size is none of them.
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

    /// Notes where a comic has been moved to; does nothing for one of which nothing is kept.
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
