import Foundation
import OwnFiles
import Platform

/// The result of a program that ran to its end.
package struct ProgramResult: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    package init(status: Int32, output: String, errors: String) {
        self.status = status
        self.output = output
        self.errors = errors
    }

    /// - Throws: `TestFailure` with the program's output, unless it exited with 0.
    @discardableResult
    package func check() throws -> ProgramResult {
        guard status == 0 else { throw TestFailure("ended with \(status):\n\(output)\n\(errors)") }
        return self
    }
}

/// Runs a program to its end. Its output goes through files: it can neither fill a pipe that nobody reads, nor leave
/// one open in a child.
///
/// - Parameters:
///   - command: a path or a name on the path, then the arguments.
///   - folder: the working folder.
///   - environment: the tests' own if nil.
///   - input: its standard input; empty if nil.
@discardableResult
package func runProgram(
    _ command: [String], in folder: BytePath? = nil, environment: [String: String]? = nil, input: String? = nil
) throws -> ProgramResult {
    let streams = try TemporaryFolder("streams")
    let process = Process(command, in: folder, environment: environment)
    let files = try ["1", "2"].map { try streams.write(BytePath($0), "") }
    process.standardOutput = FileHandle(forWritingAtPath: files[0].text)
    process.standardError = FileHandle(forWritingAtPath: files[1].text)
    if let input { process.standardInput = FileHandle(forReadingAtPath: try streams.write("0", input).text) }
    try process.run()
    process.waitUntilExit()
    let texts = try files.map { String(decoding: try Descriptor($0).readAll(), as: UTF8.self) }
    return ProgramResult(status: process.terminationStatus, output: texts[0], errors: texts[1])
}

/// As ``runProgram(_:in:environment:input:)``, on a separate thread, for slow programs.
package func runProgramAside(_ command: [String]) async throws -> ProgramResult {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try runProgram(command) }) }
    }
}

extension TemporaryFolder {
    /// As ``runProgram(_:in:environment:input:)``, in the folder.
    @discardableResult
    package func run(_ command: [String], environment: [String: String], input: String? = nil) throws -> ProgramResult {
        try runProgram(command, in: path, environment: environment, input: input)
    }
}
