import Foundation
import Glibc
import Platform
import TKCore
import TestSupport

/// A home of its own for the built `tk`, with a provider on loopback where a test wants one.
final class CommandFixture: Sendable {
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

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
    static var binary: String {
        let bundles = CommandLine.arguments.filter { $0.contains(".xctest") }.compactMap { argument -> URL? in
            argument.range(of: ".xctest").map {
                URL(fileURLWithPath: String(argument[..<$0.upperBound])).deletingLastPathComponent()
            }
        }
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return (bundles + [own]).map { $0.appendingPathComponent("tk").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "tk"
    }

    var environment: [String: String] {
        var all = ProcessInfo.processInfo.environment.filter { ["PATH", "LLVM_PROFILE_FILE"].contains($0.key) }
        all["HOME"] = home.path.text
        all["TMPDIR"] = home.path.text
        // Nobody listens there: a real server on this machine must not answer.
        all["OLLAMA_HOST"] = "http://127.0.0.1:1"
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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = environment.merging(variables) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: home.path.text)
        let stem = ".run-\(randomHex(6))"
        let paths = try ["in", "out", "err"].map { try home.write(BytePath("\(stem)-\($0)"), $0 == "in" ? input : "") }
        process.standardInput = FileHandle(forReadingAtPath: paths[0].text)
        process.standardOutput = FileHandle(forWritingAtPath: paths[1].text)
        process.standardError = FileHandle(forWritingAtPath: paths[2].text)
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: try TemporaryFolder.text(paths[1]),
            errors: try TemporaryFolder.text(paths[2]))
    }
}

/// What every draft of these tests says; both passes have something to say about it.
let sampleDraft = """
    # Manual

    The system can be utilized to process data. It was was built in order to help.

    """
