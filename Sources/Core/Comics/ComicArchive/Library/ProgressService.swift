import Foundation
import GRDB
import OwnFiles
import Platform
import SQLiteFile

/// Progress, bookmarks and recent files, in a SQLite file of their own: WAL, `synchronous=FULL`, one writer.
package final class ProgressService: Sendable {
    private let pool: DatabasePool

    /// Opens or creates `comics.sqlite` in `directory`, checks and migrates it. Blocks.
    ///
    /// - Throws: `Fault`, with the file unchanged: `.fatal` if it is damaged, or was written by a newer version.
    package static func open(directory: BytePath) throws -> ProgressService {
        try Durable.makeDirectory(directory, mode: 0o700)
        let file = SQLiteFile(
            directory.appending("comics.sqlite"), of: "reading progress", migrator: migrator,
            whenCorrupt: .refused(
                remedy: "restore it from a backup, or move it away to start without progress and bookmarks"))
        return ProgressService(pool: try file.open(now: Timestamp.now()).pool)
    }

    private init(pool: DatabasePool) { self.pool = pool }

    /// One migration per version; a released migration is never edited.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 progress, bookmarks") { db in
            try db.execute(
                sql: """
                    CREATE TABLE progress (
                        content BLOB PRIMARY KEY, path BLOB NOT NULL, currentPage INTEGER NOT NULL,
                        totalPages INTEGER NOT NULL, lastRead INTEGER NOT NULL, isCompleted INTEGER NOT NULL,
                        isRecent INTEGER NOT NULL) WITHOUT ROWID;
                    CREATE INDEX progressByDate ON progress (lastRead) WHERE isRecent;
                    CREATE TABLE bookmark (
                        content BLOB NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (content, page)) WITHOUT ROWID;
                    """)
        }
        KnownContents.register(in: &migrator)
        Favourites.register(in: &migrator)
        // These tables are unused now.
        migrator.registerMigration("manual series") { db in
            try db.execute(
                sql: """
                    CREATE TABLE series (
                        id TEXT PRIMARY KEY, name TEXT NOT NULL, place INTEGER NOT NULL, created INTEGER NOT NULL);
                    CREATE TABLE seriesMember (
                        series TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE, content BLOB NOT NULL,
                        path BLOB NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (series, content)) WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    /// Records the current page, and that the file was read just now.
    ///
    /// - Parameters:
    ///   - currentPage: from 0; clamped to the valid range.
    ///   - path: the file's current path, for the list of recent files.
    package func saveProgress(
        for content: ContentHash, at path: BytePath, currentPage: Int, totalPages: Int, now: Timestamp
    ) async throws {
        let total = max(0, totalPages)
        let page = max(0, min(currentPage, total - 1))
        let isCompleted = total > 0 && page == total - 1
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO progress VALUES (?, ?, ?, ?, ?, ?, 1)
                    ON CONFLICT (content) DO UPDATE SET path = excluded.path, currentPage = excluded.currentPage,
                        totalPages = excluded.totalPages, lastRead = excluded.lastRead,
                        isCompleted = excluded.isCompleted, isRecent = 1
                    """,
                arguments: [content.data, Data(path.bytes), page, total, now.nanoseconds, isCompleted])
        }
    }

    /// nil if the comic has not been read; it may have bookmarks nonetheless.
    package func loadProgress(for content: ContentHash) async throws -> ProgressRecord? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM progress WHERE content = ?", arguments: [content.data])
                .flatMap { try Self.record($0, db) }
        }
    }

    /// Toggles a bookmark; works on a comic that was never opened.
    ///
    /// - Returns: whether the page has a bookmark now.
    /// - Throws: `Fault(.usage)` for a negative page.
    package func toggleBookmark(for content: ContentHash, page: Int) async throws -> Bool {
        guard page >= 0 else { throw Fault(.usage, "there is no page \(page); pages are counted from 0 here") }
        return try await write { db in
            let values: StatementArguments = [content.data, page]
            try db.execute(sql: "DELETE FROM bookmark WHERE content = ? AND page = ?", arguments: values)
            if db.changesCount > 0 { return false }
            try db.execute(sql: "INSERT INTO bookmark VALUES (?, ?)", arguments: values)
            return true
        }
    }

    package func isBookmarked(_ content: ContentHash, page: Int) async throws -> Bool {
        try await bookmarks(for: content).contains(page)
    }

    /// Pages from 0, ascending.
    package func bookmarks(for content: ContentHash) async throws -> [Int] {
        try await read { try Self.bookmarks(content, $0) }
    }

    /// Forgets progress and bookmarks of a comic.
    package func deleteProgress(for content: ContentHash) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM progress WHERE content = ?", arguments: [content.data])
            try db.execute(sql: "DELETE FROM bookmark WHERE content = ?", arguments: [content.data])
        }
    }

    /// The last comics read, newest first. The caller checks whether the files still exist.
    package func recent(limit: Int = 20) async throws -> [ProgressRecord] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM progress WHERE isRecent ORDER BY lastRead DESC, content LIMIT ?",
                arguments: [max(0, limit)]
            ).compactMap { try Self.record($0, db) }
        }
    }

    /// Removes one comic, or with nil all, from the list of recent ones; progress and bookmarks stay.
    package func forgetRecent(_ content: ContentHash? = nil) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE progress SET isRecent = 0 WHERE ?1 IS NULL OR content = ?1", arguments: [content?.data])
        }
    }

    /// Checkpoints the WAL and closes the database. Blocks.
    package func close() throws {
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try pool.close()
    }

    // MARK: Inside

    func read<R: Sendable>(_ body: @Sendable @escaping (Database) throws -> R) async throws -> R {
        do {
            return try await pool.read(body)
        } catch let error as DatabaseError {
            throw SQLiteFile.fault("read reading progress", error)
        }
    }

    func write<R: Sendable>(_ body: @Sendable @escaping (Database) throws -> R) async throws -> R {
        do {
            return try await pool.write(body)
        } catch let error as DatabaseError {
            throw SQLiteFile.fault("keep reading progress", error)
        }
    }

    private static func bookmarks(_ content: ContentHash, _ db: Database) throws -> [Int] {
        try Int.fetchAll(
            db, sql: "SELECT page FROM bookmark WHERE content = ? ORDER BY page", arguments: [content.data])
    }

    private static func record(_ row: Row, _ db: Database) throws -> ProgressRecord? {
        let (bytes, path): (Data, Data) = (row["content"], row["path"])
        guard let content = ContentHash(bytes: Array(bytes)) else { return nil }
        return ProgressRecord(
            content: content, currentPage: row["currentPage"], totalPages: row["totalPages"],
            lastReadDate: Timestamp(nanoseconds: row["lastRead"]), isCompleted: row["isCompleted"],
            bookmarks: try bookmarks(content, db), path: BytePath(bytes: path))
    }
}

extension ContentHash {
    fileprivate var data: Data { Data(bytes) }
}
