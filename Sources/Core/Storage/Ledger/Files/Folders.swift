import Platform

/// What the ledger knows about a folder that rules treat as one unit (docs/design/folders.md).
package struct FolderRecord: Sendable, Equatable {
    package var place: String
    /// Relative to the place's root.
    package var path: BytePath
    package var device: UInt64
    package var inode: UInt64
    /// The content that rules last judged (``FolderContents/digest``); nil if none has.
    package var digest: ContentHash?
    package var present: Bool
    /// Incremented by each judgement that started something, so that the same folder arriving again gets another job.
    package var version: Int
    /// nil if it was never judged.
    package var matched: MatchedRules?
    package var arrived: Timestamp?
    /// From the job that last moved the folder here or put something into it; nil if a person has changed it since.
    package var lineage: Lineage?

    /// The origin of a folder that the agent has moved, made, or put something into.
    package struct Lineage: Sendable, Equatable {
        package var firstJob: String
        package var depth: Int
        /// The folder's contents when first judged with this lineage; any other contents are a person's doing. nil
        /// until then.
        package var digest: ContentHash?

        package init(firstJob: String, depth: Int, of digest: ContentHash? = nil) {
            (self.firstJob, self.depth, self.digest) = (firstJob, depth, digest)
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

    init(row: any SQLRow) throws {
        place = try row["place"]
        path = try row["path"]
        device = try row["device"]
        inode = try row["inode"]
        digest = try row["digest"]
        present = try row["present"]
        version = try row["version"]
        matched = try MatchedRules(row: row)
        arrived = try row["arrived"]
        lineage = try (row["firstJob"] as String?).map {
            Lineage(firstJob: $0, depth: try row["depth"], of: try row["ownDigest"])
        }
    }
}

extension LedgerTransaction {
    package func folder(_ place: String, _ path: BytePath) throws -> FolderRecord? {
        try first(
            "SELECT * FROM folder WHERE place = ? AND path = ?", [place, path], FolderRecord.init(row:))
    }

    /// The folder of a place with this inode, by its last known name.
    package func folder(_ place: String, device: UInt64, inode: UInt64) throws -> FolderRecord? {
        try first(
            "SELECT * FROM folder WHERE place = ? AND inode = ? AND device = ? AND digest IS NOT NULL AND present = 1",
            [place, inode, device], FolderRecord.init(row:))
    }

    /// The present folders of a place at or below `path`.
    package func folders(_ place: String, within path: BytePath = "") throws -> [BytePath] {
        let (low, high) = Self.below(path)
        return try all(
            "SELECT path FROM folder WHERE place = ? AND (path = ? OR path >= ? AND path < ?) AND present = 1 ORDER BY path",
            [place, path, low, high]
        ) { try $0["path"] }
    }

    /// Everything below the folder sorts between the two: `/` is 0x2F and `0` is 0x30.
    static func below(_ path: BytePath) -> (low: [UInt8], high: [UInt8]) {
        if path.isEmpty { return ([0], Array(repeating: 0xFF, count: 4_097)) }
        return (path.bytes + Array("/".utf8), path.bytes + Array("0".utf8))
    }

    private static let folderUpsert = upsert(
        "folder", key: ["place", "path"],
        [
            "device", "inode", "digest", "present", "version", "seen", "ruleSet", "matched", "arrived", "firstJob",
            "depth",
            "ownDigest",
        ])

    package func setFolder(_ folder: FolderRecord) throws {
        try execute(
            Self.folderUpsert,
            [
                folder.place, folder.path, folder.device, folder.inode, folder.digest, folder.present, folder.version,
                Timestamp.now(), folder.matched?.ruleSet,
                try folder.matched.map { try Self.json($0.rules) }, folder.arrived,
                folder.lineage?.firstJob, folder.lineage?.depth, folder.lineage?.digest,
            ])
    }

    /// The present folders that arrived since then and were last judged by this rule set.
    package func folders(judgedBy ruleSet: String, since: Timestamp) throws -> [FolderRecord] {
        try all(
            "SELECT * FROM folder WHERE present = 1 AND ruleSet = ? AND arrived >= ? ORDER BY place, path",
            [ruleSet, since], FolderRecord.init(row:))
    }

    /// Marks a folder as judged by this rule set, with the rules that it matched unchanged.
    package func setFolder(_ folder: FolderRecord, judgedBy ruleSet: String) throws {
        try execute(
            "UPDATE folder SET ruleSet = ? WHERE place = ? AND path = ?",
            [ruleSet, folder.place, folder.path])
    }

    /// Marks a folder as gone; its version number stays in case it comes back.
    package func setFolderGone(_ place: String, _ path: BytePath) throws {
        try execute(
            "UPDATE folder SET present = 0, version = version + 1, seen = ? WHERE place = ? AND path = ?",
            [Timestamp.now(), place, path])
        try removeDue(place, path)
    }

    /// Renames a folder within its place, along with everything known about its contents.
    ///
    /// - Returns: the folder's row before the rename.
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
