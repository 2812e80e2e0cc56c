import Foundation
import Glibc
import OwnFiles
import Platform

/// A command that runs until it is ended, with its output so far.
package final class Follower: @unchecked Sendable {  // the process is only touched by the test's own task
    private let process: Process
    private let file: BytePath

    init(_ process: Process, _ file: BytePath) {
        self.process = process
        self.file = file
    }

    package func output() throws -> String { String(decoding: try Descriptor(file).readAll(), as: UTF8.self) }

    package func end() {
        process.terminate()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}

extension AgentFixture {
    /// Starts `steward` with these arguments beside the test.
    package func spawn(_ arguments: [String]) throws -> Follower {
        let process = Process([Self.binary] + arguments, environment: environment)
        let file = try home.write(BytePath("out-\(randomHex(6))"), "")
        process.standardOutput = FileHandle(forWritingAtPath: file.text)
        process.standardError = FileHandle.nullDevice
        try process.run()
        return Follower(process, file)
    }
}
