import Foundation
import JSONText
import OwnFiles
import Platform

/// The last backup that was finished, as whoever made it has noted it in the agent's state folder: what the agent tells of
/// backups, which it has no part in. Everything here blocks.
package struct LastBackup: Codable, Sendable, Equatable {
    /// When it was begun: what came later is in none.
    package let time: Timestamp
    package let path: BytePath

    /// In the state folder. It is in no backup, and no restore touches it.
    static let name: BytePath = "last-backup.json"

    /// Days after which somebody should look: one of each week that is a day late is not missed yet.
    static let patience = 8

    /// How old it is, in whole days; less than nothing where the clock was ahead.
    func days(at now: Timestamp) -> Int { Int((now.seconds - time.seconds) / 86_400) }

    /// What is said of one that is old.
    func warning(at now: Timestamp) -> String {
        "the last backup was made \(days(at: now)) days ago, \(path): run `steward backup \(path.parent)`, and see why no other "
            + "was made since (`journalctl -u steward-backup`; a vault whose disk is away makes it fail). Where none is to be "
            + "made any more, remove \(Self.name) from the agent's state folder"
    }

    /// - Returns: nil where none is known.
    /// - Throws: `Fault(.failed)` where what is noted cannot be read.
    static func read(in state: BytePath) throws -> LastBackup? {
        let file = state.appending(name)
        guard try FileStatus.of(file) != nil else { return nil }
        do {
            return try JSONDecoder().decode(
                LastBackup.self, from: Data(try Descriptor(file).readAll(limit: 65_536)))
        } catch is DecodingError {
            throw Fault(
                .failed,
                "\(file), where the last backup is noted, cannot be understood; the next `steward backup DIR` writes it anew",
                path: file)
        }
    }

    /// Notes it; where root does that for somebody else's agent, with that user's rights, so that the agent can read it.
    func note(in state: BytePath) throws {
        let bytes = Array(try JSONText.document(self).utf8)
        try RestoreOwner(of: state).act { try Durable.replaceOwn(state.appending(Self.name), with: bytes) }
    }
}
