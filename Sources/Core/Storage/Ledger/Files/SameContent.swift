import Platform

/// A file that the ledger knows and that has, or may have, the content of another.
package struct ContentPlace: Sendable, Hashable {
    package let place: String
    /// Below the place's root.
    package let path: BytePath
    package let fingerprint: Fingerprint
    /// Nil where no rule has needed it to be read.
    package let hash: ContentHash?
    /// When the name first had this content, as far as the ledger has seen it, in nanoseconds since 1970; 0 where it was
    /// there before the ledger kept that.
    package let arrived: Int64
}

extension LedgerTransaction {
    /// The present files of `place` with so many bytes, but for those of another content. What is known by its token alone
    /// is left out: nobody is to learn that such a file holds the same.
    package func contents(in place: String, ofSize size: Int64, _ hash: ContentHash) throws -> [ContentPlace] {
        try all(
            "SELECT * FROM file WHERE place = ? AND size = ? AND present = 1 ORDER BY path", [place, size]
        ) { row -> ContentPlace? in
            let record = try FileRecord(row: row)
            guard !HiddenNames.isToken(record.path), record.hash == nil || record.hash == hash else { return nil }
            return ContentPlace(
                place: place, path: record.path, fingerprint: record.fingerprint, hash: record.hash,
                arrived: try row["contentSince"] ?? 0)
        }.compactMap(\.self)
    }

    /// A file under another name has had its content since it had it under the name before.
    package func keepArrival(_ place: String, from old: BytePath, to new: BytePath) throws {
        try execute(
            """
            UPDATE file SET contentSince = (SELECT contentSince FROM file WHERE place = ? AND path = ?)
                WHERE place = ? AND path = ?
            """,
            [place, try names.stored(place, old), place, try names.stored(place, new)])
    }
}
