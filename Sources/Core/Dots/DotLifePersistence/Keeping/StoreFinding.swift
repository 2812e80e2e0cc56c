import DotLifeDomain
import Foundation
import GRDB
import Platform

/// A problem in the store.
package struct StoreFinding: Sendable, Equatable, Codable {
    /// The kind of problem, for programs.
    package enum Kind: String, Sendable, Codable, CaseIterable {
        /// SQLite reports its own file as damaged.
        case damagedDatabase = "damaged-database"
        /// A row refers to another that does not exist.
        case brokenReference = "broken-reference"
        /// The search index does not match the captures.
        case damagedSearchIndex = "damaged-search-index"
        /// The counts for grids do not match the captures.
        case wrongCounts = "wrong-counts"
        /// An attachment's file is missing.
        case missingFile = "missing-file"
        /// The content of an attachment's file has changed.
        case alteredFile = "altered-file"
        /// An earlier version of the store did not record the file's hash.
        case unverifiedFile = "unverified-file"
        /// A row has a file name that the store does not use.
        case impossibleName = "impossible-name"
        /// A thumbnail's file is missing.
        case missingThumbnail = "missing-thumbnail"
        /// A file of no capture, left by a crash between copy and commit.
        case strayFile = "stray-file"
        /// A folder where the store has only files, made by another program, with unknown content.
        case strayFolder = "stray-folder"
        /// An unfinished copy, left by a crash.
        case unfinishedCopy = "unfinished-copy"
    }

    package let kind: Kind
    /// The affected capture.
    package var capture: UUID?
    /// The file's name below the store's folder, for display.
    package var file: String?
    /// For a person, in one line.
    package let message: String

    init(_ kind: Kind, capture: UUID? = nil, file: String? = nil, _ message: String) {
        self.kind = kind
        self.capture = capture
        self.file = file
        self.message = message
    }

    /// Whether ``CaptureStore/repair()`` can fix it. Lost data needs a backup.
    package var isRepairable: Bool {
        switch kind {
        case .damagedSearchIndex, .wrongCounts, .unverifiedFile, .missingThumbnail, .strayFile, .unfinishedCopy: true
        case .damagedDatabase, .brokenReference, .missingFile, .alteredFile, .impossibleName, .strayFolder:
            false
        }
    }
}

/// The result of ``CaptureStore/check(contents:)``.
package struct StoreCheck: Sendable, Equatable, Codable {
    package var captures = 0
    package var attachments = 0
    /// Files of attachments; fewer if several captures share one.
    package var files = 0
    /// The bytes of these files.
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
                    StoreFinding(.brokenReference, "a row of \(table) names one of \(parent) that does not exist"))
            }
            if try !areCountsRight(db) {
                found.append(StoreFinding(.wrongCounts, "the counts for the grids differ from the captures"))
            }
        }
        do {
            try pool.write {
                try $0.execute(
                    sql: "INSERT INTO experience_text (experience_text, rank) VALUES ('integrity-check', 1)")
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            found.append(
                StoreFinding(.damagedSearchIndex, "the search index differs from the captures"))
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
