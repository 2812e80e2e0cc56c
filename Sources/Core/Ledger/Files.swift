import Foundation
import GRDB
import JSONText
import Platform

/// What the ledger knows of one name in a place.
package struct FileRecord: Sendable, Equatable {
    package var place: String
    /// Below the place's root.
    package var path: BytePath
    package var fingerprint: Fingerprint
    /// The content that rules last judged; nil where it was never read.
    package var hash: ContentHash?
    package var present: Bool
    /// Goes up by one with each judgement, so that the same content arriving again is another job.
    package var version: Int
    /// The place is away: the file is known from the folder that will be back, and nothing is concluded of it till then.
    package private(set) var isKept = false
    /// When the file was made; nil where its file system does not say, or it was never asked.
    package var born: Int64?
    /// Nil where it was not judged by the file's rules: it lay there when the ledger came to know it.
    package var met: RulesMet?

    package init(
        place: String, path: BytePath, fingerprint: Fingerprint, hash: ContentHash?, present: Bool = true,
        version: Int = 1, born: Int64? = nil, met: RulesMet? = nil
    ) {
        self.born = born
        self.met = met
        self.place = place
        self.path = path
        self.fingerprint = fingerprint
        self.hash = hash
        self.present = present
        self.version = version
    }
}

/// Which rules a file has met: those that have wanted it as an arrival at one judgement or another.
package struct RulesMet: Sendable, Equatable {
    /// The rules that were in force at its last judgement; see ``LedgerTransaction/rules(era:)``.
    package var era: String
    /// Of those, by name.
    package var rules: Set<String>

    package init(era: String, rules: Set<String>) {
        self.era = era
        self.rules = rules
    }
}

/// What the agent made, and from what it descends.
package struct ProductRecord: Sendable, Equatable {
    /// Absolute.
    package var path: BytePath
    package var hash: ContentHash
    package var lineage: String
    package var depth: Int
    package var job: String

    package init(path: BytePath, hash: ContentHash, lineage: String, depth: Int, job: String) {
        self.path = path
        self.hash = hash
        self.lineage = lineage
        self.depth = depth
        self.job = job
    }
}

extension LedgerTransaction {
    package func file(_ place: String, _ path: BytePath) throws -> FileRecord? {
        for form in try names.forms(place, path) {
            let found = try first("SELECT * FROM file WHERE place = ? AND path = ?", [place, form.blob], shown)
            if let found { return found }
        }
        return nil
    }

    private func shown(_ row: Row) -> FileRecord {
        var record = FileRecord(row: row)
        record.path = names.shown(record.place, record.path)
        return record
    }

    /// The file of `place` with this inode, under whatever name it was last seen: one that is present, else one that has
    /// gone in the last minute and whose birth is known.
    package func file(_ place: String, device: UInt64, inode: UInt64) throws -> FileRecord? {
        // By itself SQLite takes the primary key, and goes through all files of the place.
        try first(
            """
            SELECT * FROM file INDEXED BY fileByInode WHERE place = ? AND inode = ? AND device = ?
                AND (present OR (born IS NOT NULL AND seen > ?)) ORDER BY present DESC, seen DESC LIMIT 1
            """,
            [
                place, Int64(bitPattern: inode), Int64(bitPattern: device),
                Timestamp.now().nanoseconds - 60_000_000_000,
            ], shown)
    }

    /// All present files of `place` at or below `path`, with what is needed to tell whether they changed. Hidden ones
    /// of which the path is not known count as below the place itself only.
    package func files(_ place: String, within path: BytePath = "") throws -> [FileRecord] {
        let rows: RowCursor
        if path.isEmpty {
            rows = try Row.fetchCursor(cached("SELECT * FROM file WHERE place = ? AND present"), arguments: [place])
        } else {
            // `/` is 0x2F, `0` is 0x30: everything below the folder sorts between the two.
            rows = try Row.fetchCursor(
                cached(
                    """
                    SELECT * FROM file WHERE place = ? AND present
                        AND (path = ? OR (path > ? AND path < ?) OR (path > ? AND path < ?))
                    """),
                arguments: [
                    place, path.blob, path.blob + Data("/".utf8), path.blob + Data("0".utf8),
                    NameVeil.range.lowerBound.blob, NameVeil.range.upperBound.blob,
                ])
        }
        var found: [FileRecord] = []
        while let row = try rows.next() {
            let record = shown(row)
            if record.path.isWithin(path) { found.append(record) }
        }
        return found
    }

    /// Gives what is needed of each present file of `place` at or below `path` to tell whether it changed, one after the
    /// other: its path as the ledger has it (a token for a hidden one), and whether its place is away.
    package func eachFile(
        _ place: String, within path: BytePath,
        _ body: (_ stored: BytePath, _ fingerprint: Fingerprint, _ isKept: Bool) throws -> Void
    ) throws {
        let columns = "SELECT path, device, inode, size, modified, changed, kept FROM file WHERE place = ? AND present"
        let rows: RowCursor
        if path.isEmpty {
            rows = try Row.fetchCursor(cached(columns), arguments: [place])
        } else {
            // `/` is 0x2F, `0` is 0x30: everything below the folder sorts between the two.
            rows = try Row.fetchCursor(
                cached(columns + " AND (path = ? OR (path > ? AND path < ?) OR (path > ? AND path < ?))"),
                arguments: [
                    place, path.blob, path.blob + Data("/".utf8), path.blob + Data("0".utf8),
                    NameVeil.range.lowerBound.blob, NameVeil.range.upperBound.blob,
                ])
        }
        while let row = try rows.next() {
            let stored = BytePath(blob: row[0])
            guard names.shown(place, stored).isWithin(path) else { continue }
            let fingerprint = Fingerprint(
                device: UInt64(bitPattern: row[1]), inode: UInt64(bitPattern: row[2]), size: row[3], modified: row[4],
                changed: row[5])
            try body(stored, fingerprint, row[6])
        }
    }

    package func setFile(_ file: FileRecord) throws {
        let print = file.fingerprint
        let forms = try names.forms(file.place, file.path)
        for old in forms.dropFirst() {
            try execute(sql: "DELETE FROM file WHERE place = ? AND path = ?", arguments: [file.place, old.blob])
        }
        try execute(
            sql: """
                INSERT OR REPLACE INTO file
                    (place, path, device, inode, size, modified, changed, hash, present, version, seen, born, era, met)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                file.place, try names.stored(file.place, file.path).blob, Int64(bitPattern: print.device),
                Int64(bitPattern: print.inode), print.size,
                print.modified, print.changed, file.hash?.blob, file.present, file.version, Timestamp.now().nanoseconds,
                file.born, file.met?.era, try file.met.map { try Self.json($0.rules) },
            ])
    }

    /// Marks a name as gone; its version number stays for the day it comes back.
    package func setGone(_ place: String, _ path: BytePath) throws {
        for form in try names.forms(place, path) {
            try execute(
                sql: """
                    UPDATE file SET present = 0, kept = 0, version = version + 1, seen = ?
                        WHERE place = ? AND path = ?
                    """,
                arguments: [Timestamp.now().nanoseconds, place, form.blob])
            guard NameVeil.isToken(form) else { continue }
            // Size and content tell which comic it was.
            try execute(
                sql: "UPDATE file SET hash = NULL, size = 0, modified = 0 WHERE place = ? AND path = ?",
                arguments: [place, form.blob])
            names.noteForgotten()
        }
        try execute(sql: "DELETE FROM block WHERE place = ? AND path = ?", arguments: [place, path.blob])
    }

    package func blocks(_ place: String, _ path: BytePath) throws -> Set<String> {
        try String.fetchSet(
            cached("SELECT token FROM block WHERE place = ? AND path = ?"), arguments: [place, path.blob])
    }

    package func setBlocks(_ place: String, _ path: BytePath, _ tokens: Set<String>) throws {
        try execute(sql: "DELETE FROM block WHERE place = ? AND path = ?", arguments: [place, path.blob])
        try addBlocks(place, path, tokens)
    }

    package func addBlocks(_ place: String, _ path: BytePath, _ tokens: some Sequence<String>) throws {
        for token in tokens {
            try execute(sql: "INSERT OR IGNORE INTO block VALUES (?, ?, ?)", arguments: [place, path.blob, token])
        }
    }

    // MARK: Products

    package func product(_ path: BytePath) throws -> ProductRecord? {
        for form in try names.forms(path) {
            guard let row = try Row.fetchOne(cached("SELECT * FROM product WHERE path = ?"), arguments: [form.blob]),
                let hash = ContentHash(blob: row["hash"])
            else { continue }
            return ProductRecord(path: path, hash: hash, lineage: row["lineage"], depth: row["depth"], job: row["job"])
        }
        return nil
    }

    package func addProduct(_ product: ProductRecord) throws {
        try execute(
            sql: "INSERT OR REPLACE INTO product VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                try names.stored(product.path).blob, product.hash.blob, product.lineage, product.depth, product.job,
                Timestamp.now().nanoseconds,
            ])
    }

    /// Forgets a product that its place has judged.
    package func removeProduct(_ path: BytePath) throws {
        for form in try names.forms(path) {
            try execute(sql: "DELETE FROM product WHERE path = ?", arguments: [form.blob])
        }
    }

    // MARK: Rules that were seen before

    /// Names of the rules that were in force before.
    package func knownRules() throws -> Set<String> {
        try String.fetchSet(cached("SELECT name FROM rule"))
    }

    /// Notes under which name the rules are known that are in force, each by name and content.
    package func meetEra(_ id: String, rules: Set<String>) throws {
        try execute(
            sql: "INSERT INTO era VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen",
            arguments: [id, try Self.json(rules), Timestamp.now().nanoseconds])
    }

    /// The rules that were in force then; empty where that is not known any more.
    package func rules(era id: String) throws -> Set<String> {
        try String.fetchOne(cached("SELECT rules FROM era WHERE id = ?"), arguments: [id]).map(Self.nameSet) ?? []
    }

    private static func json(_ names: Set<String>) throws -> String {
        try JSONText.line(names.sorted())
    }

    /// What a newer program has written in another way is as good as not known.
    static func nameSet(_ json: String) -> Set<String> {
        (try? JSONDecoder().decode(Set<String>.self, from: Data(json.utf8))) ?? []
    }

    package func meetRule(_ name: String, digest: String) throws {
        try execute(
            sql: "INSERT INTO rule VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest",
            arguments: [name, digest, Timestamp.now().nanoseconds])
    }

    package func countFiles() throws -> Int {
        try Int.fetchOne(cached("SELECT count(*) FROM file WHERE present")) ?? 0
    }

    // MARK: Staged files

    package func setStaged(_ path: BytePath, _ status: FileStatus, job: String) throws {
        try execute(
            sql: "INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?)",
            arguments: [path.blob, Int64(bitPattern: status.device), Int64(bitPattern: status.inode), job])
    }

    /// Whether the agent made the file with this name and inode, and did not finish with it.
    package func isStaged(_ path: BytePath, _ status: FileStatus) throws -> Bool {
        try Bool.fetchOne(
            cached("SELECT 1 FROM staged WHERE path = ? AND device = ? AND inode = ?"),
            arguments: [path.blob, Int64(bitPattern: status.device), Int64(bitPattern: status.inode)]) ?? false
    }

    /// Whether `step` made the file with this inode, under whatever name it is now.
    package func isStaged(by step: String, _ status: FileStatus) throws -> Bool {
        try Bool.fetchOne(
            cached("SELECT 1 FROM staged WHERE job = ? AND device = ? AND inode = ?"),
            arguments: [step, Int64(bitPattern: status.device), Int64(bitPattern: status.inode)]) ?? false
    }

    /// Every temporary file that was begun and not finished with.
    package func staged() throws -> [(path: BytePath, device: UInt64, inode: UInt64, job: String)] {
        try Row.fetchAll(cached("SELECT * FROM staged")).map {
            (BytePath(blob: $0["path"]), UInt64(bitPattern: $0["device"]), UInt64(bitPattern: $0["inode"]), $0["job"])
        }
    }

    package func clearStaged(path: BytePath) throws {
        try execute(sql: "DELETE FROM staged WHERE path = ?", arguments: [path.blob])
    }

    /// Forgets what a step has staged and noted: its receipt is there.
    package func clearStaged(job: String) throws {
        try execute(sql: "DELETE FROM staged WHERE job = ?", arguments: [job])
        try setMeta("effect:\(job)", nil)
    }
}

extension FileRecord {
    init(row: Row) {
        place = row["place"]
        path = BytePath(blob: row["path"])
        fingerprint = Fingerprint(
            device: UInt64(bitPattern: row["device"]), inode: UInt64(bitPattern: row["inode"]), size: row["size"],
            modified: row["modified"], changed: row["changed"])
        hash = ContentHash(blob: row["hash"])
        present = row["present"]
        version = row["version"]
        // A command may read a ledger that the agent has yet to bring up to date.
        isKept = row["kept"] as Bool? ?? false
        born = row["born"]
        met = (row["era"] as String?).map {
            RulesMet(era: $0, rules: LedgerTransaction.nameSet(row["met"] as String? ?? "[]"))
        }
    }
}
