import Foundation
import GRDB
import Platform

extension LedgerTransaction {
    /// Where in a place files of so many bytes lay when they were last seen.
    ///
    /// - Returns: nil where one of them is known by its token alone.
    package func paths(in place: String, ofSize size: Int64) throws -> [BytePath]? {
        // By itself SQLite takes the primary key, and goes through all files of the place.
        let rows = try Row.fetchCursor(
            cached("SELECT path FROM file INDEXED BY fileBySize WHERE place = ? AND size = ? AND present"),
            arguments: [place, size])
        var found: [BytePath] = []
        while let row = try rows.next() {
            let path = names.shown(place, BytePath(bytes: Array(row["path"] as Data)))
            if HiddenNames.isToken(path) { return nil }
            found.append(path)
        }
        return found
    }

    /// Where the agent has put a content, in places that have not judged it yet, and in those whose schedules may come to it.
    package func products(of hash: ContentHash) throws -> [BytePath] {
        try Data.fetchAll(cached("SELECT path FROM product WHERE hash = ?"), arguments: [hash.blob])
            .map { BytePath(bytes: Array($0)) }
    }
}
