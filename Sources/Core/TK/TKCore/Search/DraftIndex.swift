import Foundation
import GRDB
import Platform
import SQLiteFile

/// Full-text search over drafts, their titles and the names of their projects (SQLite FTS5), in `~/.tk/search.sqlite`.
/// The index can always be rebuilt from the files.
package final class DraftIndex: Sendable {
    private let path: BytePath
    private let pool: DatabasePool
    private let threads: BlockingPool
    /// Larger files are skipped.
    package static let mostBytes: Int64 = 4 << 20
    package static let extensions: Set<String> = [
        "md", "markdown", "txt", "text", "mdown", "rst", "adoc", "org", "fountain",
    ]

    private init(_ path: BytePath, _ pool: DatabasePool, _ threads: BlockingPool) {
        (self.path, self.pool, self.threads) = (path, pool, threads)
    }

    /// - Returns: the index, and a message for a person if a corrupt one was set aside.
    package static func open(
        _ path: BytePath, now: Timestamp = .now()
    ) async throws -> (index: DraftIndex, notices: [String]) {
        let threads = BlockingPool("search")
        return try await threads.run {
            let opened = try TKFile.open(
                SQLiteFile(
                    path, of: "the search index", migrator: migrator,
                    whenCorrupt: .setAside(LossRegistry([path.parent]), hint: "It is rebuilt from the drafts")),
                now: now)
            return (DraftIndex(path, opened.pool, threads), opened.notices)
        }
    }

    package func close() async throws {
        try await threads.use(pool, "close the search index at \(path)") { try $0.close() }
    }

    /// The result of indexing a folder.
    package struct Walked: Sendable, Equatable {
        /// Read because they were new or had changed.
        package var indexed: Int
        /// Already up to date.
        package var unchanged: Int
        package var removed: Int
        /// Files and folders that could not be read, a sentence each.
        package var problems: [String]

        package init(indexed: Int = 0, unchanged: Int = 0, removed: Int = 0, problems: [String] = []) {
            (self.indexed, self.unchanged, self.removed, self.problems) = (indexed, unchanged, removed, problems)
        }
    }

    /// Brings the index up to date with a folder: reads new and changed drafts, removes deleted ones. Programs'
    /// temporary files, hidden files and symlinks are skipped.
    package func update(folder: BytePath) async throws -> Walked {
        try await work("index \(folder)") { pool in
            let walk = DraftWalk(folder)
            var result = Walked()
            var known: [Data: (stamp: DraftStamp, hash: String)] = [:]
            for row in try pool.read({
                try Row.fetchAll($0, sql: "SELECT path, inode, size, modified, hash FROM draft")
            }) {
                let stamp = DraftStamp(inode: row["inode"], size: row["size"], modified: row["modified"])
                known[row["path"]] = (stamp, row["hash"])
            }
            var seen: Set<Data> = []
            try walk.forEach { file in
                let key = Data(file.path.bytes)
                seen.insert(key)
                if known[key]?.stamp == file.stamp {
                    result.unchanged += 1
                    return
                }
                guard let draft = try file.read() else {
                    seen.remove(key)
                    return
                }
                if known[key]?.hash == draft.hash { result.unchanged += 1 } else { result.indexed += 1 }
                try pool.write { try Self.store(draft, key, $0) }
            }
            result.problems = walk.problems
            // An unreadable draft is not deleted.
            let gone = known.keys.filter { key in
                let path = BytePath(bytes: key)
                return !seen.contains(key) && path.isWithin(folder) && !walk.unread.contains { path.isWithin($0) }
            }
            try pool.write { db in
                for key in gone { try Self.remove(key, db) }
            }
            result.removed = gone.count
            return result
        }
    }

    /// A search result.
    package struct Hit: Sendable, Hashable {
        package let path: BytePath
        package let title: String
        package let project: String
        /// An excerpt around the match, one line, with matches between ``DraftIndex/matchStart`` and
        /// ``DraftIndex/matchEnd``.
        package let snippet: String
        /// Higher is better; comparable only within one result list.
        package let score: Double
    }

    package static let matchStart = "\u{2}"
    package static let matchEnd = "\u{3}"

    /// Best first; title and project count more than the text.
    ///
    /// - Parameter folder: only drafts within it; nil for all.
    package func search(_ query: SearchQuery, in folder: BytePath? = nil, limit: Int = 20) async throws -> [Hit] {
        guard let expression = query.expression else { return [] }
        return try await work("search") { pool in
            try pool.read { db in
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT draft.path AS path, draft.title AS title, draft.project AS project,
                            bm25(draft_text, 8.0, 4.0, 1.0) AS score,
                            snippet(draft_text, -1, ?, ?, '…', 24) AS snippet
                        FROM draft_text JOIN draft ON draft.serial = draft_text.rowid
                        WHERE draft_text MATCH ? ORDER BY score, draft.path
                        """, arguments: [Self.matchStart, Self.matchEnd, expression])
                var hits: [Hit] = []
                while hits.count < limit, let row = try rows.next() {
                    let path = BytePath(bytes: row["path"] as Data)
                    if let folder, !path.isWithin(folder) { continue }
                    hits.append(
                        Hit(
                            path: path, title: row["title"], project: row["project"],
                            snippet: (row["snippet"] as String).split(whereSeparator: \.isWhitespace)
                                .joined(separator: " "),
                            score: -(row["score"] as Double)))
                }
                return hits
            }
        }
    }

    // MARK: -

    private static func store(_ draft: DraftFile.Content, _ key: Data, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO draft (path, title, project, inode, size, modified, hash) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (path) DO UPDATE SET title = excluded.title, project = excluded.project,
                    inode = excluded.inode, size = excluded.size, modified = excluded.modified, hash = excluded.hash
                """,
            arguments: [
                key, draft.title, draft.project, draft.stamp.inode, draft.stamp.size, draft.stamp.modified, draft.hash,
            ])
        let serial = try Int64.fetchOne(db, sql: "SELECT serial FROM draft WHERE path = ?", arguments: [key])
        try db.execute(sql: "DELETE FROM draft_text WHERE rowid = ?", arguments: [serial])
        try db.execute(
            sql: "INSERT INTO draft_text (rowid, title, project, content) VALUES (?, ?, ?, ?)",
            arguments: [serial, draft.title, draft.project, draft.text])
    }

    private static func remove(_ key: Data, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM draft_text WHERE rowid = (SELECT serial FROM draft WHERE path = ?)", arguments: [key])
        try db.execute(sql: "DELETE FROM draft WHERE path = ?", arguments: [key])
    }

    private func work<R: Sendable>(
        _ doing: String, _ body: @escaping @Sendable (DatabasePool) throws -> R
    ) async throws -> R {
        try await threads.use(pool, "\(doing) by the index at \(path)", body)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 drafts") { db in
            try db.execute(
                sql: """
                    CREATE TABLE draft (
                        serial INTEGER PRIMARY KEY,
                        path BLOB NOT NULL UNIQUE,
                        title TEXT NOT NULL,
                        project TEXT NOT NULL,
                        inode INTEGER NOT NULL,
                        size INTEGER NOT NULL,
                        modified INTEGER NOT NULL,
                        hash TEXT NOT NULL
                    ) STRICT;
                    """)
            try db.create(virtualTable: "draft_text", using: FTS5()) { table in
                table.tokenizer = .unicode61(diacritics: .remove)
                table.column("title")
                table.column("project")
                table.column("content")
            }
        }
        return migrator
    }
}
