import Foundation
import JSONText
import OwnFiles
import Platform

/// The last finished backup, as recorded in the agent's state folder by the process that made it. This is how the agent
/// reports on backups, in which it takes no part. Everything here blocks.
package struct LastBackup: Codable, Sendable, Equatable {
    /// When it was started: later changes are not in it.
    package let time: Timestamp
    package let path: BytePath

    /// Relative to the state folder. It is in no backup, and no restore touches it.
    static let name: BytePath = "last-backup.json"

    /// Days after which to warn; a weekly backup that is one day late is fine.
    static let warningAge = 8

    /// Its age in whole days; negative if the clock was ahead.
    func days(at now: Timestamp) -> Int { Int((now.seconds - time.seconds) / 86_400) }

    /// The warning about an old backup.
    func warning(at now: Timestamp) -> String {
        "the last backup was made \(days(at: now)) days ago, \(path): run `steward backup \(path.parent)`, and find out why "
            + "no other was made since (`journalctl -u steward-backup`; it fails if a vault's disk is not mounted). To stop making "
            + "backups, remove \(Self.name) from the agent's state folder"
    }

    /// - Returns: nil if none is recorded.
    /// - Throws: `Fault(.failed)` if the record cannot be read.
    static func read(in state: BytePath) throws -> LastBackup? {
        let file = state.appending(name)
        guard try FileStatus.of(file) != nil else { return nil }
        do {
            return try JSONDecoder().decode(
                LastBackup.self, from: Data(try Descriptor(file).readAll(limit: 65_536)))
        } catch is DecodingError {
            throw Fault(
                .failed,
                "\(file), the record of the last backup, is invalid; the next `steward backup DIR` rewrites it",
                path: file)
        }
    }

    /// Records the backup. If root does this for another user's agent, it uses that user's rights, so that the agent
    /// can read it.
    func note(in state: BytePath) throws {
        let bytes = Array(try JSONText.document(self).utf8)
        try RestoreOwner(of: state).act { try Durable.replaceOwn(state.appending(Self.name), with: bytes) }
    }
}
