import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// Confirmation of an irreversible operation.
enum Consent {
    /// - Parameter yes: already given on the command line.
    /// - Throws: `Fault(.usage)` if there is nobody to ask.
    static func asked(_ question: String, yes: Bool, json: Bool = false) throws -> Bool {
        if yes { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, !json else {
            throw Fault(.usage, "nobody can be asked here; say --yes if you mean it")
        }
        return Question.ask(question)
    }

    /// Exits with 1 unless the answer is yes.
    static func require(_ question: String, yes: Bool, json: Bool = false, otherwise: String) throws {
        guard try asked(question, yes: yes, json: json) else {
            Output.complain(otherwise)
            throw ExitCode(1)
        }
    }
}
