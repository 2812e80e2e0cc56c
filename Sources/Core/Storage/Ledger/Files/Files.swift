import Platform

/// What the ledger knows about one name in a place.
package struct FileRecord: Sendable, Equatable {
    package var place: String
    /// Relative to the place's root.
    package var path: BytePath
    package var fingerprint: Fingerprint
    /// The content that rules last judged; nil if it was never read.
    package var hash: ContentHash?
    package var present: Bool
    /// Incremented by each judgement, so that the same content arriving again gets another job.
    package var version: Int
    /// The place is away: the row describes a file in the folder that will be back; conclude nothing about it until
    /// then.
    package private(set) var isKept = false
    /// When the file was created; nil if its file system does not say, or it was never asked.
    package var birthTime: Int64?
    /// nil if no rules judged the file: it was already there when the ledger first saw it.
    package var matched: MatchedRules?
    /// nil if no rule in force looked at attributes.
    package var attributes: SeenAttributes?
    /// When the file arrived, by its first name here; nil if unknown.
    package var arrived: Timestamp?
    /// How many links the file had when it was judged; nil if they were not counted. A file with one link has one
    /// present row in its place: ``LedgerTransaction/setFile(_:due:)`` throws rather than add a second.
    package var links: Int?

    package init(
        place: String, path: BytePath, fingerprint: Fingerprint, hash: ContentHash?, present: Bool = true,
        version: Int = 1, birthTime: Int64? = nil, matched: MatchedRules? = nil, attributes: SeenAttributes? = nil,
        arrived: Timestamp? = nil, links: Int? = nil
    ) {
        self.links = links
        self.attributes = attributes
        self.arrived = arrived
        self.birthTime = birthTime
        self.matched = matched
        self.place = place
        self.path = path
        self.fingerprint = fingerprint
        self.hash = hash
        self.present = present
        self.version = version
    }
}

/// The ledger has a file with one link as present under another name, so this name cannot be added. The caller read the
/// ledger before that name was added, and must judge again.
package struct KnownUnderOtherName: Error, Sendable {
    package let place: String
    package let path: BytePath
}

/// A file as it was at some moment.
package struct FileVersion: Sendable, Equatable {
    fileprivate let place: String
    fileprivate let path: BytePath
    fileprivate let version: Int

    /// Whether only its token is known.
    package var isUnnamed: Bool { HiddenNames.isToken(path) }
}

/// Where a page of files begins.
package struct FilePageMark: Sendable {
    /// Rows per page.
    static let most = 512

    fileprivate var range = 0
    fileprivate var after: BytePath?

    fileprivate init(range: Int, after: BytePath) {
        self.range = range
        self.after = after
    }

    /// The first page.
    package init() {}

    fileprivate static func count(_ path: BytePath) -> Int { path.isEmpty ? 1 : 3 }

    /// The paths at or below `path` as ranges: itself, its contents, and tokens, which may represent any path.
    fileprivate static func range(_ number: Int, _ path: BytePath) -> (low: [UInt8], high: [UInt8]) {
        switch number {
        // No path is empty, contains NUL, or is that long.
        case _ where path.isEmpty: ([0], Array(repeating: 0xFF, count: 4_097))
        case 0: (path.bytes, path.bytes + [0])
        // `/` is 0x2F and `0` is 0x30: everything below the folder sorts between the two.
        case 1: (path.bytes + Array("/".utf8), path.bytes + Array("0".utf8))
        default: (HiddenNames.range.lowerBound.bytes, HiddenNames.range.upperBound.bytes)
        }
    }
}

extension LedgerTransaction {
    package func file(_ place: String, _ path: BytePath) throws -> FileRecord? {
        for form in try names.forms(place, path) {
            let found = try first("SELECT * FROM file WHERE place = ? AND path = ?", [place, form], shown)
            if let found { return found }
        }
        return nil
    }

    private func shown(_ row: any SQLRow) throws -> FileRecord {
        var record = try FileRecord(row: row)
        record.path = names.shown(record.place, record.path)
        return record
    }

    /// The present file of `place` with this inode, by its last known name.
    package func file(_ place: String, device: UInt64, inode: UInt64) throws -> FileRecord? {
        try files(place, device: device, inode: inode).first
    }

    /// The present rows of `place` with this inode, the last seen first. Leaves out names marked as gone: whether a
    /// file was renamed, or left and came back, is decided before its old name is judged (docs/design/events.md).
    ///
    /// - Parameter own: a name to leave out.
    package func files(
        _ place: String, device: UInt64, inode: UInt64, besides own: BytePath? = nil
    ) throws -> [FileRecord] {
        try all(
            """
            SELECT * FROM file WHERE place = ? AND inode = ? AND device = ? AND present = 1
                ORDER BY seen DESC
            """, [place, inode, device], shown
        ).filter { $0.path != own }
    }

    /// Notes that these names no longer refer to the files known for them. The rows stay, to be judged as gone or
    /// changed, but the file may be added under another name.
    package func setStale(_ files: [FileRecord]) throws {
        for file in files {
            for form in try names.forms(file.place, file.path) {
                try execute(
                    "UPDATE file SET links = NULL WHERE place = ? AND path = ?",
                    [file.place, form])
            }
        }
    }

    /// One page of the present files of `place` at or below `path`, and where the next page begins (nil after the
    /// last). Hidden files with an unknown path are listed only for the whole place.
    package func files(
        _ place: String, within path: BytePath = "", from mark: FilePageMark
    ) throws -> (files: [FileRecord], next: FilePageMark?) {
        var found: [FileRecord] = []
        let next = try page(place, "*", within: path, from: mark, most: FilePageMark.most) { row in
            let record = try shown(row)
            if record.path.isWithin(path) { found.append(record) }
        }
        return (found, next)
    }

    /// The present files of `place` at or below `path`, by name and version: compact enough for a million. All
    /// from one moment, so it does not include files that rules make while the caller handles the first ones.
    package func versions(_ place: String, within path: BytePath = "") throws -> [FileVersion] {
        var found: [FileVersion] = []
        var mark: FilePageMark? = FilePageMark()
        while let start = mark {
            let page = try files(place, within: path, from: start)
            found += page.files.map { FileVersion(place: place, path: $0.path, version: $0.version) }
            mark = page.next
        }
        return found
    }

    /// The file as it is now; nil if it is gone, or has changed and so been judged again.
    package func file(_ known: FileVersion) throws -> FileRecord? {
        let record = try file(known.place, known.path)
        return record?.present == true && record?.version == known.version ? record : nil
    }

    /// Calls `body` for each present file of `place` at or below `path`, with what is needed to tell whether it
    /// changed: its path as stored (a token for a hidden one), and whether its place is away.
    ///
    /// - Parameter most: the most rows to read; nil for all.
    /// - Returns: as ``files(_:within:from:)``.
    @discardableResult
    package func eachFile(
        _ place: String, within path: BytePath, from mark: FilePageMark = FilePageMark(), most: Int? = nil,
        _ body: (_ stored: BytePath, _ fingerprint: Fingerprint, _ isKept: Bool) throws -> Void
    ) throws -> FilePageMark? {
        let columns = "path, device, inode, size, modified, changed, kept"
        return try page(place, columns, within: path, from: mark, most: most ?? .max) { row in
            let stored: BytePath = try row[0]
            guard path.isEmpty || names.shown(place, stored).isWithin(path) else { return }
            let fingerprint = try Fingerprint(
                device: row[1], inode: row[2], size: row[3], modified: row[4], changed: row[5])
            try body(stored, fingerprint, try row[6])
        }
    }

    /// Reads rows by primary key only, so a folder costs the same even beside a million other files.
    private func page(
        _ place: String, _ columns: String, within path: BytePath, from mark: FilePageMark, most: Int,
        _ body: (any SQLRow) throws -> Void
    ) throws -> FilePageMark? {
        var left = most
        for number in mark.range..<FilePageMark.count(path) {
            let (low, high) = FilePageMark.range(number, path)
            // The smallest path after a path is that path plus NUL.
            let start = number == mark.range ? mark.after.map { $0.bytes + [0] } ?? low : low
            var next: FilePageMark?
            try connection.query(
                """
                SELECT \(columns) FROM file WHERE place = ? AND path >= ? AND path < ? AND present = 1
                    ORDER BY path LIMIT ?
                """, [place, start, high, left]
            ) { row in
                try body(row)
                left -= 1
                if left == 0 { next = FilePageMark(range: number, after: try row["path"]) }
                return left > 0
            }
            if let next { return next }
        }
        return nil
    }

    /// Stores what was seen of a file.
    ///
    /// - Parameter due: the rules, by identity, that may come to want it through time alone, and when; nil if that is
    ///   still to be computed.
    /// - Throws: ``KnownUnderOtherName`` if the file has one link and another present name of the place refers to it.
    ///   The transaction must then be rolled back.
    package func setFile(_ file: FileRecord, due: [String: Timestamp]? = nil) throws {
        if let due {
            try setDue(file.place, file.path, due)
        } else {
            try setUnreckoned(file.place, file.path)
        }
        let print = file.fingerprint
        try names.setPresent(file.place, file.path)
        let forms = try names.forms(file.place, file.path)
        for old in forms.dropFirst() {
            try execute("DELETE FROM file WHERE place = ? AND path = ?", [file.place, old])
        }
        let now = Timestamp.now()
        let arguments: [any SQLConvertible] = [
            file.place, try names.stored(file.place, file.path), print.device, print.inode, print.size,
            print.modified, print.changed, file.hash, file.present, file.version, now,
            file.birthTime, file.matched?.ruleSet, try file.matched.map { try Self.json($0.rules) },
            try file.attributes?.json, file.arrived, file.links, now,
        ]
        do {
            try execute(Self.fileUpsert, arguments)
        } catch is SQLUniqueViolation {
            throw KnownUnderOtherName(place: file.place, path: file.path)
        }
    }

    /// The time since when a name has its content is kept while the content stays the same.
    private static let fileUpsert = """
        INSERT INTO file
            (place, path, device, inode, size, modified, changed, hash, present, version, seen, birthTime, ruleSet,
            matched, attributes, arrived, links, contentSince)
            VALUES (\(marks(18)))
            ON CONFLICT (place, path) DO UPDATE SET
                device = excluded.device, inode = excluded.inode, size = excluded.size, modified = excluded.modified,
                changed = excluded.changed, hash = excluded.hash, present = excluded.present,
                version = excluded.version, seen = excluded.seen, kept = 0, birthTime = excluded.birthTime,
                ruleSet = excluded.ruleSet, matched = excluded.matched, attributes = excluded.attributes, arrived = excluded.arrived,
                links = excluded.links,
                contentSince = CASE
                    WHEN file.present = 1
                        AND (file.hash = excluded.hash OR file.hash IS NULL AND excluded.hash IS NULL)
                    THEN coalesce(file.contentSince, excluded.contentSince)
                    ELSE excluded.contentSince END
        """

    /// Marks a name as gone; its version number stays in case it comes back.
    package func setGone(_ place: String, _ path: BytePath) throws {
        for form in try names.forms(place, path) {
            try execute(
                """
                UPDATE file SET present = 0, kept = 0, version = version + 1, seen = ?
                    WHERE place = ? AND path = ?
                """,
                [Timestamp.now(), place, form])
            guard HiddenNames.isToken(form) else { continue }
            // Size and content would reveal which comic it was.
            try execute(
                "UPDATE file SET hash = NULL, size = 0, modified = 0, attributes = NULL WHERE place = ? AND path = ?",
                [place, form])
            names.noteForgotten()
            names.setGone(place, form)
        }
        try execute("DELETE FROM block WHERE place = ? AND path = ?", [place, path])
        try removeDue(place, path)
    }

    package func blocks(_ place: String, _ path: BytePath) throws -> Set<String> {
        try Set(values("SELECT token FROM block WHERE place = ? AND path = ?", [place, path]))
    }

    package func setBlocks(_ place: String, _ path: BytePath, _ tokens: Set<String>) throws {
        try execute("DELETE FROM block WHERE place = ? AND path = ?", [place, path])
        try addBlocks(place, path, tokens)
    }

    package func addBlocks(_ place: String, _ path: BytePath, _ tokens: some Sequence<String>) throws {
        for token in tokens {
            try execute(
                "INSERT INTO block (place, path, token) VALUES (?, ?, ?) ON CONFLICT (place, path, token) DO NOTHING",
                [place, path, token])
        }
    }

    // MARK: Rules that were seen before

    /// Names of the rules that were in force before.
    package func knownRules() throws -> Set<String> {
        try Set(values("SELECT name FROM rule"))
    }

    /// Records the rules in force, by name, under an id of the set.
    package func registerRuleSet(_ id: String, rules: Set<String>) throws {
        try execute(
            "INSERT INTO ruleSet (id, rules, seen) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen",
            [id, try Self.json(rules), Timestamp.now()])
    }

    /// The names of the rules in that set; empty if no longer known.
    package func rules(inSet id: String) throws -> Set<String> {
        try value("SELECT rules FROM ruleSet WHERE id = ?", [id]).map(Self.nameSet) ?? []
    }

    /// The present files of a place judged by this rule set since then.
    package func files(_ place: String, judgedBy ruleSet: String, since: Timestamp) throws -> [FileRecord] {
        try all(
            "SELECT * FROM file WHERE place = ? AND present = 1 AND ruleSet = ? AND seen >= ? ORDER BY path",
            [place, ruleSet, since], shown)
    }

    package func registerRule(_ name: String, digest: String) throws {
        try execute(
            "INSERT INTO rule (name, digest, firstSeen) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest",
            [name, digest, Timestamp.now()])
    }

    /// How many names of a place the ledger has, including gone ones.
    package func countNames(_ place: String) throws -> Int {
        try value("SELECT count(*) FROM file WHERE place = ?", [place]) ?? 0
    }

    package func countFiles() throws -> Int {
        try value("SELECT count(*) FROM file WHERE present = 1") ?? 0
    }
}

extension FileRecord {
    init(row: any SQLRow) throws {
        place = try row["place"]
        path = try row["path"]
        fingerprint = try Fingerprint(
            device: row["device"], inode: row["inode"], size: row["size"], modified: row["modified"],
            changed: row["changed"])
        hash = try row["hash"]
        present = try row["present"]
        version = try row["version"]
        isKept = try row["kept"]
        birthTime = try row["birthTime"]
        matched = try MatchedRules(row: row)
        attributes = SeenAttributes(json: try row["attributes"])
        arrived = try row["arrived"]
        links = try row["links"]
    }
}
