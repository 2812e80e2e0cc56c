import Foundation
import Glibc
import Platform
import TestSupport

/// A run of `tk` that a test interacts with: it waits for output, and types when it appears.
final class Conversation {
    private let process: Process
    private let input = Foundation.Pipe()
    private let files: [BytePath]

    /// - Parameter onTerminal: on a separate terminal, where both streams become the output.
    init(_ fixture: CommandFixture, _ arguments: [String], onTerminal: Bool = false) throws {
        let stem = ".talk-\(randomHex(6))"
        files = try ["out", "err"].map { try fixture.write(BytePath("\(stem)-\($0)"), "") }
        let words = [CommandFixture.binary] + arguments
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let command = onTerminal ? ["/usr/bin/env", "script", "-qefc", line, "/dev/null"] : words
        process = Process(command, in: fixture.home.path, environment: fixture.environment)
        process.standardInput = input
        process.standardOutput = FileHandle(forWritingAtPath: files[0].text)
        process.standardError = FileHandle(forWritingAtPath: files[1].text)
        try process.run()
    }

    var output: String { get throws { try TemporaryFolder.text(files[0]) } }
    var errors: String { get throws { try TemporaryFolder.text(files[1]) } }

    /// Waits until it has printed something, on either stream.
    func hears(_ words: String) async throws {
        try await waitUntil("tk says “\(words)”") { try (output + errors).contains(words) }
    }

    func types(_ text: String) throws {
        guard process.isRunning else { throw TestFailure("tk has ended: \(try errors)") }
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Waits for its end, after closing its input.
    func ends() throws -> CommandFixture.Result {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return CommandFixture.Result(status: process.terminationStatus, output: try output, errors: try errors)
    }

    /// Ends it where it stands, as a lack of memory does.
    func isKilled() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Interrupts it.
    func breaksOff() {
        process.terminate()
        process.waitUntilExit()
    }
}
