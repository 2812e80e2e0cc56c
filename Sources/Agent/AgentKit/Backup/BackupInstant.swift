import Foundation
import Ledger
import OwnFiles
import Platform

/// The moment in which a backup looks at all stores: nothing is done meanwhile that would change two of them. Blocks.
final class BackupInstant {
    private let connection: ControlConnection?
    private var lock: StateLock?
    private var found: BackupManifest.Consistency

    private init(_ connection: ControlConnection?, _ lock: StateLock?, _ found: BackupManifest.Consistency) {
        (self.connection, self.lock, self.found) = (connection, lock, found)
    }

    /// Seconds for which an agent is waited for that does not answer.
    private static let patience = 20

    /// Has the agent hold its steps or, where none runs, keeps one from starting. Where neither can be had the backup goes
    /// on without: the ledger is the first to be looked at, and what it does not know yet is recognised when it is done
    /// again.
    static func begin(_ directories: Directories) throws -> BackupInstant {
        guard let connection = try ControlConnection.connect(directories.socket) else { return try alone(directories) }
        do {
            try connection.setTimeout(patience)
            try connection.send(ControlRequest(HoldSteps()))
            let hold = try connection.receive(HoldSteps.Begun.self)
            return BackupInstant(connection, nil, hold.isQuiet ? .held : .stepAtWork)
        } catch {
            return BackupInstant(nil, nil, .unheld)
        }
    }

    private static func alone(_ directories: Directories) throws -> BackupInstant {
        // The lock's file is the agent's; where root made it, the agent could not.
        guard try FileStatus.of(directories.state.appending("lock")) != nil else {
            return BackupInstant(nil, nil, .stopped)
        }
        do {
            return BackupInstant(nil, try StateLock(directory: directories.state), .stopped)
        } catch let fault as Fault where fault.kind == .failed {
            // It is starting or stopping, or a command is at work in its place.
            return BackupInstant(nil, nil, .unheld)
        }
    }

    /// Lets the agent go on.
    ///
    /// - Returns: what is known of the time since it was begun.
    func end() -> BackupManifest.Consistency {
        lock?.release()
        lock = nil
        guard let connection else { return found }
        do {
            try connection.send(ControlRequest(HoldSteps()))
            _ = try connection.receive(HoldSteps.Begun.self)
        } catch {
            // It has ended, or has gone on by itself after its longest time.
            found = .unheld
        }
        return found
    }
}
