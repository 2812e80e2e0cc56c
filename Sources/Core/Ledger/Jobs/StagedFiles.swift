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
}

extension FileIdentity {
    fileprivate init(row: Row) {
        self.init(
            device: UInt64(bitPattern: row["device"]), inode: UInt64(bitPattern: row["inode"]), born: row["born"])
    }
}
