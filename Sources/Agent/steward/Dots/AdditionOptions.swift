import AgentKit
import ArgumentParser
import Foundation
import Glibc
import Platform
import TKCommands

/// Options of every addition.
struct AdditionOptions: ParsableArguments {
    @Option(name: .long, help: "The kind of moment: now, today or \"this week\".")
    var moment: String?

    @Option(name: .long, help: "The time: 09:30, \"2026-11-22 09:30\", or ISO 8601 (default: now).")
    var time: String?

    @Option(name: .long, help: "A file to attach; may be given several times.", completion: .file())
    var attach: [PathArgument] = []

    func add(_ options: DotsOptions, _ kind: () throws -> AddCapture.Kind) async throws {
        try await options.with { dots in
            let attached = attach.map(\.located)
            try await options.carryOut(
                AddCapture(kind(), moment: moment, time: time, attached: attached), in: dots)
        }
    }

    /// - Throws: `Fault(.usage)` if the text is missing, or longer than a capture may be.
    static func text(_ words: [String], _ what: String) throws -> String {
        if !words.isEmpty, words != ["-"] { return words.joined(separator: " ") }
        if isatty(STDIN_FILENO) == 1 {
            throw Fault(.usage, "\(what) is missing; give it as an argument or on standard input")
        }
        let limit = AddCapture.textLimit
        guard let data = try FileHandle.standardInput.read(upToCount: limit + 1) else { return "" }
        guard data.count <= limit else {
            throw Fault(.usage, "standard input has more than \(limit) bytes, the limit for a text")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Fault(.usage, "standard input is not UTF-8 text")
        }
        return text
    }
}
