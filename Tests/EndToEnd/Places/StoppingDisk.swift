import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// A real FUSE file system: bindfs shows a folder at a second path, until its process is stopped.
final class StoppingDisk {
    private let process = Process()
    private let at: BytePath

    private init(_ program: String, showing source: BytePath, at place: BytePath) throws {
        at = place
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-f", source.text, place.text]
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    static func mounted(_ steward: AgentFixture, at place: BytePath) async throws -> StoppingDisk {
        let program = "/usr/bin/bindfs"
        guard getuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0, access(program, X_OK) == 0 else {
            try Test.cancel("needs root, bindfs and the kernel's FUSE")
        }
        let source = steward.home.path.appending("served")
        try Durable.makeDirectory(source)
        let disk = try StoppingDisk(program, showing: source, at: steward.path(place))
        let device = try FileStatus.of(source)?.fingerprint.device
        let isMounted = { try FileStatus.of(steward.path(place))?.fingerprint.device != device }
        do {
            try await steward.until("it is mounted", seconds: 10) { try isMounted() }
        } catch {
            try Test.cancel("mounting is not permitted here")
        }
        return disk
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        umount2(at.text, 2)  // MNT_DETACH
    }

    func stopAnswering() { kill(process.processIdentifier, SIGSTOP) }
    func answer() { kill(process.processIdentifier, SIGCONT) }
}
