import Foundation
import JSONText
import Platform

/// What the ledger knows about a place's folder.
package struct PlaceRecord: Sendable, Equatable {
    package var root: BytePath
    /// The folder that the place's known files came from; nil if none was seen yet.
    package var identity: FolderIdentity?
    /// The folder at the place's path while the place is away.
    package var other: FolderIdentity?

    package init(root: BytePath, identity: FolderIdentity?, other: FolderIdentity?) {
        self.root = root
        self.identity = identity
        self.other = other
    }
}

extension LedgerTransaction {
    package func place(_ name: String) throws -> PlaceRecord? {
        try first("SELECT * FROM place WHERE name = ?", [name]) { row in
            PlaceRecord(
                root: try row["root"], identity: try Self.identity(row["identity"]),
                other: try Self.identity(row["other"]))
        }
    }

    /// Records that `place` exists.
    ///
    /// - Returns: whether it is new, or has another root than before.
    package func registerPlace(_ place: String, root: BytePath) throws -> Bool {
        let known: BytePath? = try value("SELECT root FROM place WHERE name = ?", [place])
        if known == root { return false }
        try execute(
            """
            INSERT INTO place (name, root, firstSeen) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET
            root = excluded.root, firstSeen = excluded.firstSeen, identity = NULL, other = NULL
            """, [place, root, Timestamp.now()])
        if known != nil {
            try execute("DELETE FROM file WHERE place = ?", [place])
            try execute("DELETE FROM due WHERE place = ?", [place])
            try execute("DELETE FROM folder WHERE place = ?", [place])
        }
        return true
    }

    /// Records that the place is present, and which folder its known files came from.
    package func setPlaceHere(_ place: String, _ identity: FolderIdentity) throws {
        try execute(
            "UPDATE place SET identity = ?, other = NULL WHERE name = ?",
            [try Self.text(identity), place])
        try execute("UPDATE file SET kept = 0 WHERE place = ? AND kept = 1", [place])
    }

    /// Records that the place is away, and which folder is there instead. What is known of its files is kept.
    package func setPlaceAway(_ place: String, instead other: FolderIdentity) throws {
        let isNew = try self.place(place)?.other == nil
        try execute(
            "UPDATE place SET other = ? WHERE name = ?", [try Self.text(other), place])
        // Files that arrived in the other folder after it was first seen belong to it.
        if isNew { try execute("UPDATE file SET kept = 1 WHERE place = ? AND present = 1", [place]) }
    }

    private static func identity(_ text: String?) throws -> FolderIdentity? {
        try text.map { try JSONDecoder().decode(FolderIdentity.self, from: Data($0.utf8)) }
    }

    private static func text(_ identity: FolderIdentity) throws -> String {
        try JSONText.line(identity)
    }
}
