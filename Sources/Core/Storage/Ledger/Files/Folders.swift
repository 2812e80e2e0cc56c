import Foundation
import GRDB
import Platform

/// What the ledger knows of a folder that rules look at as one thing (docs/design/folders.md).
package struct FolderRecord: Sendable, Equatable {
    package var place: String
    /// Below the place's root.
    package var path: BytePath
    package var device: UInt64
    package var inode: UInt64
    /// Of what rules last judged (``FolderContents/digest``); nil where none has judged it.
    package var digest: ContentHash?
    package var present: Bool
    /// Goes up with each judgement that started something, so that the same folder arriving again is another job.
    package var version: Int
    /// Nil where it was never judged.
    package var matched: MatchedRules?
    package var arrived: Timestamp?
    /// Of the job that has last put it there, or something into it; nil where a person has changed it since.
    package var lineage: Lineage?

    /// What a folder descends from that the agent has moved, made, or put something into.
    package struct Lineage: Sendable, Equatable {
        package var id: String
        package var depth: Int
        /// What lay in the folder when it was first judged so: another list is a person's doing. Nil where it was not yet.
        package var digest: ContentHash?

        package init(id: String, depth: Int, of digest: ContentHash? = nil) {
            (self.id, self.depth, self.digest) = (id, depth, digest)
        }
    }

    package init(
        place: String, path: BytePath, device: UInt64 = 0, inode: UInt64 = 0, digest: ContentHash? = nil,
        present: Bool = true, version: Int = 1, matched: MatchedRules? = nil, arrived: Timestamp? = nil,
        lineage: Lineage? = nil
    ) {
        self.lineage = lineage
        self.place = place
        self.path = path
        self.device = device
        self.inode = inode
        self.digest = digest
        self.present = present
        self.version = version
        self.matched = matched
        self.arrived = arrived
    }

    init(row: Row) {
        place = row["place"]
        path = BytePath(blob: row["path"])
        device = UInt64(bitPattern: row["device"])
        inode = UInt64(bitPattern: row["inode"])
        digest = ContentHash(blob: row["digest"])
        present = row["present"]
        version = row["version"]
        matched = (row["era"] as String?).map {
            MatchedRules(era: $0, rules: LedgerTransaction.nameSet(row["met"] as String? ?? "[]"))
        }
        arrived = (row["arrived"] as Int64?).map(Timestamp.init(nanoseconds:))
        // A command may read a ledger that the agent has yet to bring up to date.
        lineage = (row["lineage"] as String?).map {
            Lineage(id: $0, depth: row["depth"], of: (row["lineageOf"] as Data?).flatMap { ContentHash(blob: $0) })
        }
    }
}

extension LedgerTransaction {
    package func folder(_ place: String, _ path: BytePath) throws -> FolderRecord? {
        // A command may read a ledger that the agent has yet to bring up to date.
        guard try db.tableExists("folder") else { return nil }
        return try first(
            "SELECT * FROM folder WHERE place = ? AND path = ?", [place, path.blob], FolderRecord.init(row:))
    }

    /// The folder of a place with this inode, under the name that it was last seen by.
    package func folder(_ place: String, device: UInt64, inode: UInt64) throws -> FolderRecord? {
        try first(
            "SELECT * FROM folder WHERE place = ? AND inode = ? AND device = ? AND digest IS NOT NULL AND present",
            [place, Int64(bitPattern: inode), Int64(bitPattern: device)], FolderRecord.init(row:))
    }

    /// The present folders of a place at or below `path`.
    package func folders(_ place: String, within path: BytePath = "") throws -> [BytePath] {
        let (low, high) = Self.below(path)
        return try all(
            "SELECT path FROM folder WHERE place = ? AND (path = ? OR path >= ? AND path < ?) AND present ORDER BY path",
            [place, path.blob, low, high]
        ) { BytePath(blob: $0["path"]) }
    }

    /// Everything below the folder sorts between the two: `/` is 0x2F, `0` is 0x30.
    static func below(_ path: BytePath) -> (low: Data, high: Data) {
        if path.isEmpty { return (Data([0]), Data(repeating: 0xFF, count: 4_097)) }
        return (path.blob + Data("/".utf8), path.blob + Data("0".utf8))
    }

    package func setFolder(_ folder: FolderRecord) throws {
        try execute(
            sql: """
                INSERT OR REPLACE INTO folder
                    (place, path, device, inode, digest, present, version, seen, era, met, arrived, lineage, depth,
                    lineageOf) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                folder.place, folder.path.blob, Int64(bitPattern: folder.device), Int64(bitPattern: folder.inode),
                folder.digest?.blob, folder.present, folder.version, Timestamp.now().nanoseconds, folder.matched?.era,
                try folder.matched.map { try Self.json($0.rules) }, folder.arrived?.nanoseconds,
                folder.lineage?.id, folder.lineage?.depth, folder.lineage?.digest?.blob,
            ])
    }

    /// The present folders that came since then, and were last judged by these rules.
    package func folders(judgedBy era: String, since: Timestamp) throws -> [FolderRecord] {
        try all(
            "SELECT * FROM folder WHERE present AND era = ? AND arrived >= ? ORDER BY place, path",
            [era, since.nanoseconds], FolderRecord.init(row:))
    }

    /// Has a folder count as judged by these rules, of which it has met no others than before.
    package func setFolder(_ folder: FolderRecord, judgedBy era: String) throws {
        try execute(
            sql: "UPDATE folder SET era = ? WHERE place = ? AND path = ?",
            arguments: [era, folder.place, folder.path.blob])
    }

    /// Marks a folder as gone; its version number stays for the day it comes back.
    package func setFolderGone(_ place: String, _ path: BytePath) throws {
        try execute(
            sql: "UPDATE folder SET present = 0, version = version + 1, seen = ? WHERE place = ? AND path = ?",
            arguments: [Timestamp.now().nanoseconds, place, path.blob])
        try removeDue(place, path)
    }

    /// Gives what is known of a folder, and of what lies in it, another name within its place.
    ///
    /// - Returns: the folder's row as it was.
    package func renameFolder(_ place: String, _ path: BytePath, to new: BytePath) throws -> FolderRecord? {
        for known in try versions(place, within: path) {
            guard var file = try file(known), let below = file.path.relative(to: path) else { continue }
            let old = file.path
            let blocks = try blocks(place, old)
            file.path = new.appending(below)
            let awaited = try due(place, old)
            try setGone(place, old)
            try setFile(file)
            try keepDue(awaited, place, file.path)
            try setBlocks(place, file.path, blocks)
            try keepArrival(place, from: old, to: file.path)
        }
        let top = try folder(place, path)
        for inner in try folders(place, within: path) {
            guard var folder = try folder(place, inner), let below = inner.relative(to: path) else { continue }
            try setFolderGone(place, inner)
            folder.path = new.appending(below)
            folder.version += 1
            try setFolder(folder)
        }
        return top
    }
}
