import Foundation
import GRDB
import Platform

/// A comic that the user has marked as a favourite. Identified by its content, so that it survives a move.
package struct Favourite: Sendable, Equatable, Codable {
    package let content: ContentHash
    /// The file's path when it was marked, or last relocated.
    package let path: BytePath
    package let added: Timestamp
}

/// The table of favourites.
enum Favourites {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("favourites") { db in
            try db.execute(
                sql: """
                    CREATE TABLE favourite (
                        content BLOB PRIMARY KEY, path BLOB NOT NULL, added INTEGER NOT NULL) WITHOUT ROWID;
                    """)
        }
    }
}

extension ProgressService {
    /// Marks a comic as a favourite, or removes the mark.
    ///
    /// - Parameter now: the date of the mark; an existing favourite keeps its date.
    package func setFavourite(
        _ isFavourite: Bool, for content: ContentHash, at path: BytePath, now: Timestamp
    ) async throws {
        try await write { db in
            guard isFavourite else {
                return try db.execute(
                    sql: "DELETE FROM favourite WHERE content = ?", arguments: [Data(content.bytes)])
            }
            try db.execute(
                sql: """
                    INSERT INTO favourite VALUES (?, ?, ?)
                    ON CONFLICT (content) DO UPDATE SET path = excluded.path
                    """,
                arguments: [Data(content.bytes), Data(path.bytes), now.nanoseconds])
        }
    }

    package func isFavourite(_ content: ContentHash) async throws -> Bool {
        try await read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM favourite WHERE content = ?)", arguments: [Data(content.bytes)])
                ?? false
        }
    }

    /// The favourites, newest first. The caller checks whether the files still exist; none is dropped for being away,
    /// as on an unmounted disk.
    package func favourites() async throws -> [Favourite] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM favourite ORDER BY added DESC, content").compactMap { row in
                let (bytes, path): (Data, Data) = (row["content"], row["path"])
                return ContentHash(bytes: Array(bytes)).map {
                    Favourite(
                        content: $0, path: BytePath(bytes: path), added: Timestamp(nanoseconds: row["added"]))
                }
            }
        }
    }
}
