import DotLifeDomain
import Foundation
import GRDB
import Platform

/// Something that is wrong in the store.
package struct StoreFinding: Sendable, Equatable, Codable {
    /// What is wrong, for programs.
    package enum Kind: String, Sendable, Codable, CaseIterable {
        /// SQLite finds its own file damaged.
        case damagedDatabase = "damaged-database"
        /// A row names another that is not there.
        case brokenReference = "broken-reference"
        /// Searching does not find what the captures say.
        case damagedSearchIndex = "damaged-search-index"
        /// The counts for grids are not those of the captures.
        case wrongCounts = "wrong-counts"
        /// An attachment's file is gone.
        case missingFile = "missing-file"
        /// An attachment's file holds something else than was captured.
        case alteredFile = "altered-file"
        /// An earlier version of the store did not keep what the file must hold.
        case unverifiedFile = "unverified-file"
        /// A row names a file that cannot be the store's.
        case impossibleName = "impossible-name"
        /// A small picture's file is gone.
        case missingThumbnail = "missing-thumbnail"
        /// A file that no capture has: a crash between copy and commit leaves one.
        case strayFile = "stray-file"
        /// A folder where the store has only files: somebody else has made it, and nobody knows what is in it.
        case strayFolder = "stray-folder"
        /// What a crash left of a copy.
        case unfinishedCopy = "unfinished-copy"
    }

    package let kind: Kind
    /// The capture that is concerned.
    package var capture: UUID?
    /// The file's name below the store's folder, as people are shown it.
    package var file: String?
    /// For a person, in one line.
    package let message: String

    init(_ kind: Kind, capture: UUID? = nil, file: String? = nil, _ message: String) {
        self.kind = kind
        self.capture = capture
        self.file = file
        self.message = message
    }

    /// Whether ``CaptureStore/repair()`` puts it right. What is lost only a backup brings back.
    package var isRepairable: Bool {
        switch kind {
        case .damagedSearchIndex, .wrongCounts, .unverifiedFile, .missingThumbnail, .strayFile, .unfinishedCopy: true
        case .damagedDatabase, .brokenReference, .missingFile, .alteredFile, .impossibleName, .strayFolder:
            false
        }
    }
}

/// What ``CaptureStore/check(contents:)`` saw.
package struct StoreCheck: Sendable, Equatable, Codable {
    package var captures = 0
    package var attachments = 0
    /// Files of attachments; fewer where several captures have the same.
    package var files = 0
    /// Of these files.
    package var bytes: Int64 = 0
    package var findings: [StoreFinding] = []
}

/// The checks that need no files.
enum DatabaseCheck {
    static func findings(_ pool: DatabasePool) throws -> [StoreFinding] {
        var found: [StoreFinding] = []
        try pool.read { db in
            for line in try String.fetchAll(db, sql: "PRAGMA integrity_check(20)") where line != "ok" {
                found.append(StoreFinding(.damagedDatabase, "the database is damaged: \(line)"))
            }
            for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
                let (table, parent) = (row[0] as String, row[2] as String)
                found.append(
                    StoreFinding(.brokenReference, "a row of \(table) names one of \(parent) that is not there"))
            }
            if try !areCountsRight(db) {
                found.append(StoreFinding(.wrongCounts, "the counts that grids are drawn from are not the captures'"))
            }
        }
        do {
            try pool.write {
                try $0.execute(
                    sql: "INSERT INTO experience_text (experience_text, rank) VALUES ('integrity-check', 1)")
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            found.append(
                StoreFinding(.damagedSearchIndex, "the search index does not say what the captures say"))
        }
        return found
    }

    private static func areCountsRight(_ db: Database) throws -> Bool {
        let counted = "SELECT \(CaptureSchema.quarter("timestamp")), COUNT(*) FROM experience GROUP BY 1"
        let kept = "SELECT quarter, count FROM experience_count"
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT NOT EXISTS (SELECT * FROM (\(counted)) EXCEPT \(kept))
                    AND NOT EXISTS (\(kept) EXCEPT SELECT * FROM (\(counted)))
                """) ?? false
    }
}
