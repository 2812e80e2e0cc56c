import Platform

/// A known file that has, or may have, the same content as another.
package struct ContentPlace: Sendable, Hashable {
    package let place: String
    /// Relative to the place's root.
    package let path: BytePath
    package let fingerprint: Fingerprint
    /// nil if no rule has needed to read it.
    package let hash: ContentHash?
    /// When the name first had this content, in nanoseconds since 1970, as far as the ledger has seen; 0 if it was
    /// there before the ledger recorded that.
    package let arrived: Int64
}

extension LedgerTransaction {
    /// The present files of `place` of that size, except those known to differ. Files known only by token are left out:
    /// that such a file has the same content must not be revealed.
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

    /// A renamed file keeps the time since when it has its content.
    package func keepArrival(_ place: String, from old: BytePath, to new: BytePath) throws {
        try execute(
            """
            UPDATE file SET contentSince = (SELECT contentSince FROM file WHERE place = ? AND path = ?)
                WHERE place = ? AND path = ?
            """,
            [place, try names.stored(place, old), place, try names.stored(place, new)])
    }
}
