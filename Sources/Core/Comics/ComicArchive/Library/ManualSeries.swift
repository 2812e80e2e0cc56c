import Foundation
import GRDB
import Platform

/// Comics that the user has put together, in an order of their own; stands before the series that names tell.
package struct ManualSeries: Sendable, Equatable, Codable, Identifiable {
    /// One of its comics. Found by its content, so that one that is moved stays in.
    package struct Member: Sendable, Equatable, Codable {
        package let content: ContentHash
        /// Where the file was when it was put in.
        package let path: BytePath

        package init(content: ContentHash, path: BytePath) {
            self.content = content
            self.path = path
        }
    }

    /// `manual-` and a UUID.
    package let id: String
    package let name: String
    package let members: [Member]
    package let created: Timestamp
}

/// The tables of manual series.
enum ManualSeriesTable {
    static func register(in migrator: inout DatabaseMigrator) {
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
    }
}

extension ProgressService {
    /// Makes a series, behind those that there are. A comic may be in several.
    ///
    /// - Throws: `Fault(.usage)` for a name of nothing but spaces.
    @discardableResult
    package func makeSeries(
        _ name: String, _ members: [ManualSeries.Member] = [], now: Timestamp
    ) async throws -> ManualSeries {
        let name = try Self.checked(name)
        let id = "manual-\(UUID().uuidString.lowercased())"
        return try await write { db in
            try db.execute(
                sql: "INSERT INTO series SELECT ?, ?, coalesce(max(place) + 1, 0), ? FROM series",
                arguments: [id, name, now.nanoseconds])
            try Self.append(members, to: id, db)
            return ManualSeries(id: id, name: name, members: try Self.members(of: id, db), created: now)
        }
    }

    /// Adds comics at the end of a series; those that are in it keep their place.
    ///
    /// - Throws: `Fault(.usage)` where there is no such series, as all that follow.
    package func add(_ members: [ManualSeries.Member], toSeries id: String) async throws {
        try await change(id) { db in try Self.append(members, to: id, db) }
    }

    package func remove(_ contents: [ContentHash], fromSeries id: String) async throws {
        try await change(id) { db in
            for content in contents {
                try db.execute(
                    sql: "DELETE FROM seriesMember WHERE series = ? AND content = ?",
                    arguments: [id, Data(content.bytes)])
            }
        }
    }

    /// Puts the comics of a series into this order; those that are not named follow in the order that they had.
    package func order(_ contents: [ContentHash], inSeries id: String) async throws {
        try await change(id) { db in
            let known = try Self.members(of: id, db).map(\.content)
            let first = contents.filter { known.contains($0) }
            for (place, content) in (first + known.filter { !first.contains($0) }).enumerated() {
                try db.execute(
                    sql: "UPDATE seriesMember SET place = ? WHERE series = ? AND content = ?",
                    arguments: [place, id, Data(content.bytes)])
            }
        }
    }

    package func renameSeries(_ id: String, to name: String) async throws {
        let name = try Self.checked(name)
        try await change(id) { db in
            try db.execute(sql: "UPDATE series SET name = ? WHERE id = ?", arguments: [name, id])
        }
    }

    /// Forgets a series; its comics are left alone.
    package func deleteSeries(_ id: String) async throws {
        try await change(id) { try $0.execute(sql: "DELETE FROM series WHERE id = ?", arguments: [id]) }
    }

    /// All series in the user's order, empty ones too.
    package func manualSeries() async throws -> [ManualSeries] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM series ORDER BY place, created, id").map { row in
                let id: String = row["id"]
                return ManualSeries(
                    id: id, name: row["name"], members: try Self.members(of: id, db),
                    created: Timestamp(nanoseconds: row["created"]))
            }
        }
    }

    // MARK: Inside

    private func change(_ id: String, _ body: @Sendable @escaping (Database) throws -> Void) async throws {
        let isThere = try await write { db in
            guard
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM series WHERE id = ?)", arguments: [id])
                    ?? false
            else { return false }
            try body(db)
            return true
        }
        guard isThere else { throw Fault(.usage, "there is no series \(BytePath.escape(Array(id.utf8))); list them") }
    }

    private static func checked(_ name: String) throws -> String {
        let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw Fault(.usage, "a series needs a name; give one") }
        return trimmed
    }

    private static func append(_ members: [ManualSeries.Member], to id: String, _ db: Database) throws {
        for member in members {
            try db.execute(
                sql: """
                    INSERT INTO seriesMember
                    SELECT ?1, ?2, ?3, coalesce(max(place) + 1, 0) FROM seriesMember WHERE series = ?1
                    ON CONFLICT (series, content) DO UPDATE SET path = excluded.path
                    """,
                arguments: [id, Data(member.content.bytes), Data(member.path.bytes)])
        }
    }

    private static func members(of id: String, _ db: Database) throws -> [ManualSeries.Member] {
        try Row.fetchAll(
            db, sql: "SELECT content, path FROM seriesMember WHERE series = ? ORDER BY place, content", arguments: [id]
        ).compactMap { row in
            let (bytes, path): (Data, Data) = (row["content"], row["path"])
            return ContentHash(bytes: Array(bytes)).map {
                ManualSeries.Member(content: $0, path: BytePath(bytes: path))
            }
        }
    }
}
