import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Foundation
import Glibc
import Platform

/// A yes or no, before something that cannot be taken back.
enum Consent {
    /// - Parameter yes: said on the command line already.
    /// - Throws: `Fault(.usage)` where nobody can be asked.
    static func asked(_ question: String, yes: Bool, json: Bool = false) throws -> Bool {
        if yes { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, !json else {
            throw Fault(.usage, "nobody can be asked here; say --yes if you mean it")
        }
        return Question.ask(question)
    }

    /// Ends the command with 1 unless the answer is yes.
    static func require(_ question: String, yes: Bool, json: Bool = false, otherwise: String) throws {
        guard try asked(question, yes: yes, json: json) else {
            Output.complain(otherwise)
            throw ExitCode(1)
        }
    }
}
