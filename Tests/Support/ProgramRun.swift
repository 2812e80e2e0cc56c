import Foundation
import OwnFiles
import Platform

/// What a program that ran to its end has left.
package struct ProgramResult: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    /// - Throws: `TestFailure` with what the program printed, unless it ended with 0.
    @discardableResult
    package func check() throws -> ProgramResult {
        guard status == 0 else { throw TestFailure("ended with \(status):\n\(output)\n\(errors)") }
        return self
    }
}

extension TemporaryFolder {
    /// Runs a program in the folder to its end.
    ///
    /// - Parameter input: its standard input; nothing where nil.
    @discardableResult
    package func run(_ command: [String], environment: [String: String], input: String? = nil) throws -> ProgramResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0].contains("/") ? command[0] : "/usr/bin/env")
        process.arguments = command[0].contains("/") ? Array(command.dropFirst()) : command
        process.environment = environment
        process.currentDirectoryURL = URL(fileURLWithPath: path.text)
        let name = "out-\(randomHex(6))"
        let files = try ["1", "2"].map { try write(BytePath("\(name).\($0)"), "") }
        process.standardOutput = FileHandle(forWritingAtPath: files[0].text)
        process.standardError = FileHandle(forWritingAtPath: files[1].text)
        if let input {
            process.standardInput = FileHandle(forReadingAtPath: try write(BytePath("\(name).0"), input).text)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { String(decoding: try Descriptor($0).readAll(), as: UTF8.self) }
        return ProgramResult(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }
}
