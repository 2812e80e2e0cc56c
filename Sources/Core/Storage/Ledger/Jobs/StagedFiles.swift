import Foundation
import GRDB
import Platform

/// Temporary files that steps have begun and not finished with.
extension LedgerTransaction {
    package func setStaged(_ path: BytePath, _ file: FileIdentity, job: String) throws {
        try execute(
            sql: "INSERT OR REPLACE INTO staged (path, device, inode, job, born) VALUES (?, ?, ?, ?, ?)",
            arguments: [path.blob, Int64(bitPattern: file.device), Int64(bitPattern: file.inode), job, file.born])
    }

    /// The files that `step` made and did not finish with, whatever their names are now.
    package func staged(by step: String) throws -> [FileIdentity] {
        try all("SELECT device, inode, born FROM staged WHERE job = ?", [step], FileIdentity.init(row:))
    }

    /// The same with the names that they had when they were made.
    package func namesStaged(by step: String) throws -> [(path: BytePath, file: FileIdentity)] {
        try all("SELECT * FROM staged WHERE job = ?", [step]) { (BytePath(blob: $0["path"]), FileIdentity(row: $0)) }
    }

    /// Every temporary file that was begun and not finished with.
    package func staged() throws -> [(path: BytePath, file: FileIdentity, job: String)] {
        try Row.fetchAll(cached("SELECT * FROM staged")).map {
            (BytePath(blob: $0["path"]), FileIdentity(row: $0), $0["job"])
        }
    }

    /// Forgets a temporary file that is gone.
    package func clearStaged(path: BytePath) throws {
        try execute(sql: "DELETE FROM staged WHERE path = ?", arguments: [path.blob])
    }

    /// Forgets what a step has staged and noted: its receipt is there.
    package func clearStaged(job: String) throws {
        try execute(sql: "DELETE FROM staged WHERE job = ?", arguments: [job])
        try setMeta("effect:\(job)", nil)
    }

    /// Forgets what steps have staged and noted whose jobs are not there any more. As long as a job is there it may be tried
    /// again, and then knows by this what it has made.
    func forgetStaged() throws {
        // Ids of steps are the job's, a dot and a number. A slash stands in those that are for notes.
        try execute(
            sql: """
                DELETE FROM staged WHERE instr(job, '/') = 0
                    AND NOT EXISTS (SELECT 1 FROM job WHERE id = substr(staged.job, 1, instr(staged.job || '.', '.') - 1))
                """)
        try execute(
            sql: """
                DELETE FROM meta WHERE key >= 'effect:' AND key < 'effect;'
                    AND NOT EXISTS (SELECT 1 FROM job WHERE id = substr(key, 8, instr(key || '.', '.') - 8))
                """)
    }
}

extension FileIdentity {
    fileprivate init(row: Row) {
        self.init(
            device: UInt64(bitPattern: row["device"]), inode: UInt64(bitPattern: row["inode"]), born: row["born"])
    }
}
