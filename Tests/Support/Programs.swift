import Foundation
import Platform

extension Process {
    /// A program that is yet to be started. It has nothing to read, unless that is set.
    ///
    /// - Parameters:
    ///   - command: a path or a name on the path, then the arguments.
    ///   - folder: the working one; that of the tests where nil.
    ///   - environment: that of the tests where nil.
    package convenience init(_ command: [String], in folder: BytePath? = nil, environment: [String: String]? = nil) {
        self.init()
        let isPath = command.first?.contains("/") == true
        executableURL = URL(fileURLWithPath: isPath ? command[0] : "/usr/bin/env")
        arguments = isPath ? Array(command.dropFirst()) : command
        if let environment { self.environment = environment }
        if let folder { currentDirectoryURL = URL(fileURLWithPath: folder.text) }
        standardInput = FileHandle.nullDevice
    }

    /// Starts it, and waits until it has said what is waited for.
    ///
    /// - Parameter told: is given all that it has printed so far; nil where that is not it yet.
    /// - Throws: `TestFailure` with what it has said, where it says no more.
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
    /// - Throws: `TestFailure` where it is none.
    package func runUntilNumber() throws -> Int {
        let line = try run { $0.hasSuffix("\n") ? $0.trimmingCharacters(in: .whitespacesAndNewlines) : nil }
        guard let number = Int(line) else { throw TestFailure("\(arguments ?? []) did not start: \(line)") }
        return number
    }
}
