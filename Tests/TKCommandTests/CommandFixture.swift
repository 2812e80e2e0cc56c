import Foundation
import Glibc
import Platform
import TKCore
import TestSupport

/// A separate home for the built `tk`, with a provider on loopback if a test wants one.
final class CommandFixture: Sendable {
    typealias Result = ProgramResult

    let home: TemporaryFolder
    let variables: [String: String]

    /// - Parameter stub: configured as Anthropic's server, with its key in the secret store.
    init(_ stub: MessagesStub? = nil, variables: [String: String] = [:]) throws {
        home = try TemporaryFolder("tk")
        var all = variables
        if let stub {
            all["TK_BASE_URL"] = stub.url
            try FileSecretStore(home: TKHome(folder: home.path.appending(".tk")))
                .set(Secret(MessagesStub.key), for: "anthropic")
        }
        self.variables = all
    }

    /// The program that was built beside the tests.
    static var binary: String { Built.program("tk")?.text ?? "tk" }

    var environment: [String: String] {
        var all = ProcessInfo.processInfo.environment.filter { ["PATH", "LLVM_PROFILE_FILE"].contains($0.key) }
        all["HOME"] = home.path.text
        all["TMPDIR"] = home.path.text
        // An unused port: a real server on this machine must not answer.
        all["OLLAMA_HOST"] = "http://127.0.0.1:1"
        // No spelling: findings must not depend on the dictionaries of this machine.
        all["DICPATH"] = ""
        return all.merging(variables) { $1 }
    }

    @discardableResult
    func write(_ name: BytePath, _ text: String) throws -> BytePath { try home.write(name, text) }

    func read(_ name: BytePath) throws -> String { try home.read(name) }

    /// Runs `tk` in the fixture's home; without an input, standard input is empty.
    func tk(_ arguments: [String], input: String = "", variables: [String: String] = [:]) throws -> Result {
        try run([Self.binary] + arguments, input: input, variables: variables)
    }

    /// A line for the shell, in which `tk` is the program.
    func shell(_ line: String) throws -> Result {
        try run(["/bin/bash", "-c", "tk() { '\(Self.binary)' \"$@\"; }; " + line])
    }

    private func run(_ command: [String], input: String = "", variables: [String: String] = [:]) throws -> Result {
        try home.run(command, environment: environment.merging(variables) { $1 }, input: input)
    }
}

/// The text of every draft in these tests; both passes have something to say about it.
let sampleDraft = """
    # Manual

    The system can be utilized to process data. It was was built in order to help.

    """
