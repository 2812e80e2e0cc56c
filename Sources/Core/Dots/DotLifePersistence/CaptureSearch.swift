import DotLifeDomain
import Foundation
import GRDB
import Platform
import SQLiteFile

/// A capture found by a full-text search.
package struct SearchHit: Sendable, Equatable {
    package let record: ExperienceRecord
    /// BM25: smaller is better; 0 if there are too many matches to rank.
    package let rank: Double
    /// An excerpt of the note, the link or the file names, with the matches.
    package let snippet: [SnippetPart]

    /// The snippet as one text.
    ///
    /// - Parameter marked: formats a match for display.
    package func text(marking marked: (String) -> String) -> String {
        snippet.map { $0.isMatch ? marked($0.text) : $0.text }.joined()
    }
}

/// A matching part of a snippet, or one in between.
package struct SnippetPart: Sendable, Equatable, Codable {
    package let text: String
    package let isMatch: Bool

    package init(_ text: String, isMatch: Bool) {
        self.text = text
        self.isMatch = isMatch
    }

    /// From a private use plane: texts do not contain them, and one that does merely gets an extra mark.
    static let (open, close) = ("\u{F0001}", "\u{F0002}")

    static func parts(of snippet: String) -> [SnippetPart] {
        var parts: [SnippetPart] = []
        var isMatch = false
        var text = String.UnicodeScalarView()
        func end() {
            if !text.isEmpty { parts.append(SnippetPart(String(text), isMatch: isMatch)) }
            text = String.UnicodeScalarView()
        }
        for scalar in snippet.unicodeScalars {
            if scalar == "\u{F0001}" || scalar == "\u{F0002}" {
                end()
                isMatch = scalar == "\u{F0001}"
            } else {
                text.append(scalar)
            }
        }
        end()
        return parts
    }
}

extension CaptureStore {
    /// Captures whose note, link or file names contain all words of `text`, best first, then newest first; after them
    /// those that contain words beginning with them.
    ///
    /// If more than ``ranked`` match, the last stored come first: such common words are no clue, and ranking them takes
    /// longer than people wait.
    ///
    /// - Parameter words: the maximum length of a snippet.
    /// - Returns: an empty list if `text` has no words.
    package func search(_ text: String, limit: Int = 50, words: Int = 16) async throws -> [SearchHit] {
        guard let patterns = SearchPatterns(text), limit > 0 else { return [] }
        return try await read { db in
            var rows = try Self.rows(patterns.whole, limit, words, db)
            if rows.count < limit, let beginnings = patterns.beginnings {
                let known = Set(rows.map { $0["rowid"] as Int64 })
                let more = try Self.rows(beginnings, limit, words, db).filter { !known.contains($0["rowid"]) }
                rows += more.prefix(limit - rows.count)
            }
            return try Self.hits(rows, db)
        }
    }

    /// The maximum number of matches to rank.
    package static let ranked = 1_000

    private static func rows(_ pattern: FTS5Pattern, _ limit: Int, _ words: Int, _ db: Database) throws -> [Row] {
        let matches = try Int64.fetchAll(
            db,
            sql: "SELECT rowid FROM experience_text WHERE experience_text MATCH ? ORDER BY rowid DESC LIMIT ?",
            arguments: [pattern, ranked + 1])
        if matches.isEmpty { return [] }
        let isRanked = matches.count <= ranked
        return try Row.fetchAll(
            db, sql: isRanked ? rankedQuery : newestQuery,
            arguments: [SnippetPart.open, SnippetPart.close, min(max(1, words), 64), pattern, limit])
    }

    private static func hits(_ rows: [Row], _ db: Database) throws -> [SearchHit] {
        var hits: [SearchHit] = []
        for row in rows {
            let id = try String.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM experience WHERE serial = ?"),
                arguments: [row["rowid"] as Int64])
            guard let id = id.flatMap({ UUID(uuidString: $0) }), let record = try ExperienceRow.find(id: id, db) else {
                continue
            }
            hits.append(SearchHit(record: record, rank: row["rank"], snippet: SnippetPart.parts(of: row["snippet"])))
        }
        return hits
    }

    private static let snippet = "snippet(experience_text, -1, ?, ?, '…', ?) AS snippet"

    private static let rankedQuery = """
        SELECT experience_text.rowid, rank, \(snippet)
        FROM experience_text JOIN experience ON experience.serial = experience_text.rowid
        WHERE experience_text MATCH ? ORDER BY rank, timestamp DESC, serial DESC LIMIT ?
        """

    private static let newestQuery = """
        SELECT rowid, 0.0 AS rank, \(snippet) FROM experience_text
        WHERE experience_text MATCH ? ORDER BY rowid DESC LIMIT ?
        """
}

/// User input as patterns: no character in it is special to the index.
private struct SearchPatterns {
    /// All words in full.
    let whole: FTS5Pattern
    /// Words with these prefixes; nil if that adds nothing.
    let beginnings: FTS5Pattern?

    /// - Returns: nil if there are no words.
    init?(_ text: String) {
        guard let words = FTS5Pattern(matchingAllTokensIn: text)?.rawPattern.split(separator: " "),
            let whole = Self.all(words, { $0 })
        else { return nil }
        self.whole = whole
        // Half of all captures have a word that begins with a given letter.
        let isLetter = { (word: String) in word.utf8.count == 1 }
        beginnings = words.allSatisfy { isLetter(String($0)) } ? nil : Self.all(words) { isLetter($0) ? $0 : "\($0)*" }
    }

    private static func all(_ words: [Substring], _ term: (String) -> String) -> FTS5Pattern? {
        let terms = words.map { "(\(SearchedForms.of(String($0)).map(term).joined(separator: " OR ")))" }
        return try? FTS5Pattern(rawPattern: terms.joined(separator: " AND "))
    }
}
