import AgentKit
import ArgumentParser
import Foundation
import Glibc
import JSONText
import Ledger
import Logging
import Platform
import Rules
import Synchronization
import TKCommands

/// Options of every command.
struct CommonOptions: ParsableArguments {
    @Option(name: .long, help: "The configuration file (default: ~/.config/steward/steward.yaml).")
    var config: PathArgument?

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func directories() throws -> Directories {
        try Directories(environment: ProcessInfo.processInfo.environment, configuration: config?.path)
    }

    /// The configuration; if it has errors, prints them to standard error and exits.
    func configuration(_ directories: Directories) throws -> Configuration {
        let (configuration, diagnostics) = Configuration.load(directories)
        guard let configuration else {
            for diagnostic in diagnostics { Output.complain("\(diagnostic)") }
            throw ExitCode(64)
        }
        return configuration
    }
}

/// Output for people and programs: the only way to standard output and standard error, always through ``ShownText``.
enum Output {
    static func lines(_ lines: [String]) {
        for line in lines { self.line(line) }
    }

    /// One line; embedded line breaks are escaped, as they come from outside. Unbuffered, so that a reader in a pipe
    /// sees each line as it is written.
    static func line(_ text: String) {
        put(ShownText.line(text) + "\n", to: STDOUT_FILENO)
    }

    /// Several preformatted lines of our own.
    static func document(_ text: String) {
        put(ShownText.lines(text), to: STDOUT_FILENO)
    }

    /// Several lines of our own, with colours; outside text in them has already been through ``ShownText``.
    static func coloured(_ text: String) {
        put(ShownText.coloured(text), to: STDOUT_FILENO)
    }

    /// A JSON document, or part of one.
    static func json(_ document: String, terminator: String = "\n") {
        put(ShownText.json(document) + terminator, to: STDOUT_FILENO)
    }

    /// A prompt; the answer is typed after it.
    static func ask(_ question: String) {
        put(ShownText.lines(question), to: STDERR_FILENO)
    }

    /// A side note, on standard error.
    static func note(_ line: String) {
        put(ShownText.line(line) + "\n", to: STDERR_FILENO)
    }

    private static func put(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                // A reader that has gone, or a closed descriptor, wants no more output.
                if descriptor == STDOUT_FILENO, errno != EPIPE, errno != EBADF {
                    let fault = Fault.system("write standard output")
                    unwritten.withLock { $0 = $0 ?? fault }
                }
                return
            }
            rest = rest.dropFirst(written)
        }
    }

    /// Why standard output is incomplete: ``guarding(fatal:_:)`` reports it at the end.
    private static let unwritten = Mutex<Fault?>(nil)

    /// Routes error messages through the log queue, since an agent must not wait for a slow reader.
    static func complain(through lines: LogQueue) { log.withLock { $0 = lines } }

    private static let log = Mutex<LogQueue?>(nil)

    static func complain(_ text: String) {
        if let log = log.withLock({ $0 }) { return log.add(ShownText.lines(text), .error) }
        put(JournalStream.marked(ShownText.lines(text), .error) + "\n", to: STDERR_FILENO)
    }

    static func show(_ value: some Encodable, lines text: @autoclosure () -> [String], json: Bool) throws {
        if json { self.json(try JSONText.shown(value)) } else { lines(text()) }
    }

    /// Errors that the argument parser prints or exits with itself; none contains outside text.
    private static func isForParser(_ error: any Error) -> Bool {
        error is ExitCode || error is CleanExit || error is ValidationError || error is CancellationError
    }

    /// Runs a command's body; a fault becomes one line on standard error and the exit code of its kind.
    ///
    /// - Parameter fatal: the exit code for errors that a retry does not fix.
    static func guarding(fatal: Int32 = 1, _ body: () async throws -> Void) async throws {
        do {
            try await body()
            if let fault = unwritten.withLock({ $0 }) { throw fault }
        } catch let fault as Fault {
            complain("steward: \(fault.message)")
            throw ExitCode(fault.kind == .usage ? 64 : fault.kind == .fatal ? fatal : 1)
        } catch let complaints as Complaints {
            complain(complaints.description)
            throw ExitCode(64)
        } catch let error where !Self.isForParser(error) {
            complain("steward: \(explain(error))")
            throw ExitCode(1)
        }
    }
}

/// A command that has the agent answer one request, or reads the answer itself.
protocol RequestCommand: AsyncParsableCommand {
    associatedtype Request: Command
    var options: CommonOptions { get }
    var request: Request { get }
}

extension RequestCommand {
    func run() async throws {
        try await Output.guarding { try await options.carryOut(request) }
    }
}

extension RequestCommand where Request: Query {
    func run() async throws {
        try await Output.guarding { try await options.look(request) }
    }
}

extension CommonOptions {
    /// Has the agent run a command and shows the answer; if no agent is running, runs it here under the agent's lock.
    func carryOut<C: Command>(_ command: C) async throws {
        let directories = try directories()
        if let answer = try ControlClient.ask(command, at: directories.socket) { return try show(answer, of: command) }
        guard !C.needsAgent else {
            throw Fault(
                .failed, "no agent is running (nobody listens at \(directories.socket)); start one with `steward run`")
        }
        try show(try await carryOutHere(command, directories), of: command)
    }

    /// Queries an agent's records and shows the answer.
    func look<Q: Query>(_ query: Q) async throws {
        try show(try await query.read(Records(try directories())), of: query)
    }

    func show<C: Command>(_ answer: C.Answer, of command: C) throws {
        try Output.show(answer, lines: command.lines(answer), json: json)
    }

    private func carryOutHere<C: Command>(_ command: C, _ directories: Directories) async throws -> C.Answer {
        let configuration = try configuration(directories)
        let lock = try StateLock(directory: directories.state)
        let (ledger, _) = try Ledger.open(directory: directories.state)
        // A ledger that no agent has started with has nothing to control; if one was lost, the next agent must notice.
        guard try ledger.readBlocking({ try $0.meta("created") }) != nil else {
            try ledger.close()
            throw Fault(
                .failed,
                "there is no ledger in \(directories.state), or none that can be read; start the agent with "
                    + "`steward run`, which begins one, and try this again", path: directories.state)
        }
        let core = AgentCore(
            configuration: configuration, directories: directories, ledger: ledger, claims: true,
            log: Logger(label: "steward") { _ in StewardLogHandler(level: .warning) })
        try await core.learnTime()
        core.planner.ruleSet = RuleSet(core.loadRules().rules)
        try await core.learnHiddenNames()
        // The lock guarantees that nothing else is sending.
        _ = try ledger.writeBlocking { try $0.resumeDeliveries() }
        let answer = try await command.run(in: AgentContext(core))
        try ledger.close()
        core.journal.presence.claims?.release()
        withExtendedLifetime(lock) {}
        return answer
    }
}
