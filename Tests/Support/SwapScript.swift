import Foundation
import Glibc
import OwnFiles
import Platform

/// A running `Tests/Campaigns/swaps.py`.
package final class SwapScript: @unchecked Sendable {  // belongs to its test's own task
    private let process: Process
    private let output: BytePath

    private static let path = Checkout.root.appending("Tests/Campaigns/swaps.py")

    /// Returns when it is at work.
    ///
    /// - Parameter user: the command prefix that runs it as another user.
    package init(_ arguments: [String], by user: [String] = [], in home: TemporaryFolder) throws {
        // A copy: the checkout may be inaccessible to other users.
        let script = home.path.appending("swaps.py")
        if try FileStatus.of(script) == nil { try home.write("swaps.py", try Descriptor(Self.path).readAll()) }
        output = try home.write(BytePath("swaps-\(randomHex(6))"), "")
        process = Process(user + ["/usr/bin/python3", "-B", script.text] + arguments, in: "/")
        process.standardOutput = FileHandle(forWritingAtPath: output.text)
        process.standardError = process.standardOutput
        try process.run()
        while try !TemporaryFolder.text(output).hasPrefix("ready") {
            guard process.isRunning else { throw TestFailure(try TemporaryFolder.text(output)) }
            usleep(10_000)
        }
    }

    /// Ends it, and returns all of its output.
    @discardableResult
    package func finish() throws -> String {
        process.terminate()
        return try result()
    }

    /// Waits for its end; returns all of its output.
    @discardableResult
    package func result() throws -> String {
        process.waitUntilExit()
        let text = try TemporaryFolder.text(output)
        // Its output is complete, and the signal may arrive while Python is exiting anyway.
        let isDone = process.terminationStatus == SIGTERM && text.hasSuffix("}\n")
        guard process.terminationStatus == 0 || isDone else { throw TestFailure(text) }
        return text
    }

    deinit { if process.isRunning { process.terminate() } }
}
