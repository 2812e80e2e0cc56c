import AgentKit
import ArgumentParser
import Foundation
import Glibc
import Platform

/// Confirmation of an irreversible operation.
enum Consent {
    static let usual = "use --yes if you mean it"

    /// - Returns: true for `y` and `yes`; false for everything else, including end of input.
    static func ask(_ question: String) -> Bool {
        Output.ask("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// - Parameters:
    ///   - yes: already given on the command line.
    ///   - hint: what to do if there is nobody to ask.
    /// - Throws: `Fault(.usage)` if there is nobody to ask.
    static func asked(_ question: String, yes: Bool, json: Bool = false, hint: String = usual) throws -> Bool {
        if yes { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, !json else {
            throw Fault(.usage, "there is no terminal to ask; \(hint)")
        }
        return ask(question)
    }

    /// Exits with 1 unless the answer is yes.
    static func require(
        _ question: String, yes: Bool, json: Bool = false, otherwise: String, hint: String = usual
    ) throws {
        guard try asked(question, yes: yes, json: json, hint: hint) else {
            Output.complain(otherwise)
            throw ExitCode(1)
        }
    }
}
