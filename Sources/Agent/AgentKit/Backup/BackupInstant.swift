import ControlSocket
import Foundation
import Ledger
import OwnFiles
import Platform

/// The moment of a backup's snapshot: nothing changes two stores in the meantime. Blocks.
final class BackupInstant {
    private let connection: ControlConnection?
    private var lock: StateLock?
    private var found: BackupManifest.Consistency

    private init(_ connection: ControlConnection?, _ lock: StateLock?, _ found: BackupManifest.Consistency) {
        (self.connection, self.lock, self.found) = (connection, lock, found)
    }

    /// Timeout in seconds for an agent that does not answer.
    private static let timeout = 20

    /// Makes the agent hold its steps; if no agent runs, keeps one from starting. If neither is possible, the backup
    /// goes on without: the ledger is read first, and work that it does not know yet is recognised when it is repeated.
    static func begin(_ directories: Directories) throws -> BackupInstant {
        guard let connection = try ControlConnection.connect(directories.socket) else { return try alone(directories) }
        do {
            try connection.setTimeout(timeout)
            try connection.send(ControlRequest(HoldSteps()))
            let hold = try connection.receive(HoldSteps.Begun.self)
            return BackupInstant(connection, nil, hold.isQuiet ? .held : .stepAtWork)
        } catch {
            return BackupInstant(nil, nil, .unheld)
        }
    }

    private static func alone(_ directories: Directories) throws -> BackupInstant {
        // The lock file belongs to the agent; if root created it, the agent could not open it.
        guard try FileStatus.of(directories.state.appending("lock")) != nil else {
            return BackupInstant(nil, nil, .stopped)
        }
        do {
            return BackupInstant(nil, try StateLock(directory: directories.state), .stopped)
        } catch let fault as Fault where fault.kind == .failed {
            // The agent is starting or stopping, or a command is working in its place.
            return BackupInstant(nil, nil, .unheld)
        }
    }

    /// Lets the agent resume.
    ///
    /// - Returns: how consistent the snapshot was.
    func end() -> BackupManifest.Consistency {
        lock?.release()
        lock = nil
        guard let connection else { return found }
        do {
            try connection.send(ControlRequest(HoldSteps()))
            _ = try connection.receive(HoldSteps.Begun.self)
        } catch {
            // The agent has ended, or its maximum hold time expired.
            found = .unheld
        }
        return found
    }
}
