import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// A real FUSE file system: bindfs shows a folder at a second path until its process is stopped.
final class StoppingDisk {
    private let process: Process
    private let at: BytePath

    /// - Parameter errors: a file for the program's error output.
    private init(_ program: String, showing source: BytePath, at place: BytePath, errors: BytePath) throws {
        at = place
        process = Process([program, "-f", source.text, place.text])
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors.text))
        try process.run()
    }

    /// Cancels the test if mounting is not permitted on this machine; any other failure fails the test.
    static func mounted(_ steward: AgentFixture, at place: BytePath) async throws -> StoppingDisk {
        let program = "/usr/bin/bindfs"
        guard getuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0, access(program, X_OK) == 0 else {
            try Test.cancel("needs root, bindfs and the kernel's FUSE")
        }
        let source = steward.home.path.appending("served")
        try Durable.makeDirectory(source)
        let errors = try steward.home.write("bindfs-errors", "")
        let disk = try StoppingDisk(program, showing: source, at: steward.path(place), errors: errors)
        let device = try FileStatus.of(source)?.fingerprint.device
        let isMounted = { try FileStatus.of(steward.path(place))?.fingerprint.device != device }
        try await steward.until("bindfs has mounted, or given up") { try isMounted() || !disk.process.isRunning }
        if try isMounted() { return disk }
        let said = try steward.home.read("bindfs-errors").split(separator: "\n").joined(separator: " ")
        guard ["not permitted", "denied", "device not found"].contains(where: { said.contains($0) }) else {
            let status = disk.process.terminationStatus
            throw TestFailure("bindfs ended with status \(status) before it had mounted: \(said)")
        }
        try Test.cancel("mounting is not permitted here: \(said)")
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        umount2(at.text, 2)  // MNT_DETACH
    }

    func stopAnswering() { kill(process.processIdentifier, SIGSTOP) }
    func answer() { kill(process.processIdentifier, SIGCONT) }
}
