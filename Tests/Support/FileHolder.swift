import Foundation
import OwnFiles
import Platform

/// Another process that has a file open until it is told to let go.
package final class FileHolder: @unchecked Sendable {  // set up in init; afterwards only `release` touches it
    package enum Way: String, Sendable { case reading = "<", appending = ">>" }

    private let process = Process()
    private let input = Pipe()

    package var id: Int32 { process.processIdentifier }

    /// Returns when the other process has the file open.
    package init(_ path: BytePath, _ way: Way) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec 3\(way.rawValue)\"$1\"; echo open; read line", "sh", path.text]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard answer == "open\n" else { throw TestFailure("the other process could not open \(path)") }
    }

    /// Ends the other process and waits for its end.
    package func release() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }
}

/// Waits until no process has the file open for writing: a child that another test has just forked keeps a copy of
/// every descriptor until it executes its program.
package func letGo(_ path: BytePath) async throws {
    try await waitUntil("nobody writes to \(path)") { Lease.probeWriters(try Descriptor(path)) != .busy }
}
