import Foundation
import Platform

extension Process {
    /// A program that has not been started yet. Its standard input is empty unless set.
    ///
    /// - Parameters:
    ///   - command: a path or a name on the path, then the arguments.
    ///   - folder: the working folder; the tests' own if nil.
    ///   - environment: the tests' own if nil.
    package convenience init(_ command: [String], in folder: BytePath? = nil, environment: [String: String]? = nil) {
        self.init()
        let isPath = command.first?.contains("/") == true
        executableURL = URL(fileURLWithPath: isPath ? command[0] : "/usr/bin/env")
        arguments = isPath ? Array(command.dropFirst()) : command
        if let environment { self.environment = environment }
        if let folder { currentDirectoryURL = URL(fileURLWithPath: folder.text) }
        standardInput = FileHandle.nullDevice
    }

    /// Starts it, and waits for certain output.
    ///
    /// - Parameter told: receives all output so far; returns nil to keep waiting.
    /// - Throws: `TestFailure` with the output if the program stops writing.
    package func run<Told>(until told: (String) throws -> Told?) throws -> Told {
        let output = Pipe()
        standardOutput = output
        try run()
        var said = ""
        while true {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw TestFailure("\(arguments ?? []) did not start: \(said)") }
            said += String(decoding: part, as: UTF8.self)
            if let found = try told(said) { return found }
        }
    }

    /// Starts it, and waits for its first line, which is a number.
    ///
    /// - Throws: `TestFailure` if it is not a number.
    package func runUntilNumber() throws -> Int {
        let line = try run { $0.hasSuffix("\n") ? $0.trimmingCharacters(in: .whitespacesAndNewlines) : nil }
        guard let number = Int(line) else { throw TestFailure("\(arguments ?? []) did not start: \(line)") }
        return number
    }
}
