import AgentKit
import ArgumentParser
import ComicVault
import Foundation
import Glibc
import Logging
import Platform
import ServiceLifecycle
import UnixSignals

/// `steward run`
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Watch the places and run the rules, until stopped.",
        discussion: """
            SIGTERM and SIGINT complete the running steps and stop; SIGHUP reads the rules again; SIGUSR1 locks all vaults.

            Exit codes: 0 told to stop, 64 the configuration, the command line or what the agent keeps is not fit to start \
            with, so that a restart would not help (a ledger of a newer version), 1 anything else.
            """)

    @OptionGroup var options: CommonOptions

    func run() async throws {
        let lines = LogQueue()
        Output.complain(through: lines)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await serve(lines)) } catch { outcome = .failure(error) }
        // The flushes have timeouts, so stalled readers can only delay the end.
        try await lines.flush()
        try await SystemNotification.manager.flush()
        try outcome.get()
    }

    private func serve(_ lines: LogQueue) async throws {
        // With this exit code, the units do not restart the agent.
        try await Output.guarding(fatal: 64) {
            // Ignored until they are handled: by default they would end the process. A starting agent reads the rules
            // anyway; a vault that it unlocks with a credential in the meantime stays open until a later signal.
            for number in [SIGHUP, SIGUSR1] { signal(number, SIG_IGN) }
            // Nor must a closed log pipe end the process.
            signal(SIGPIPE, SIG_IGN)
            let directories = try options.directories()
            let socket = ActivationSocket.take(at: directories.socket)
            let configuration = try options.configuration(directories)
            let format = LogFormat(json: configuration.logsJSON || options.json)
            let log = Logger(label: "steward") { _ in
                StewardLogHandler(level: configuration.logLevel, format: format, queue: lines)
            }
            Blocking.forbidOnPool()
            let agent = try await Agent.make(configuration, directories, socket: socket, log: log, lines: lines)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [
                        .init(
                            service: agent, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .cancelGroup),
                        .init(service: Signal.reload(agent), successTerminationBehavior: .ignore),
                        .init(service: Signal.lock(agent), successTerminationBehavior: .ignore),
                    ], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: Logger(label: "lifecycle") { _ in
                        StewardLogHandler(level: .error, format: format, queue: lines)
                    }))
            try await group.run()
        }
    }
}

/// Handles one signal.
private struct Signal: Service {
    let number: Int32
    let label: String
    let act: @Sendable () async -> Void

    static func reload(_ agent: Agent) -> Signal {
        Signal(number: SIGHUP, label: "steward.hup") {
            do {
                try await agent.reload()
            } catch {
                Output.complain("steward: the rules were not reloaded: \(explain(error))")
            }
        }
    }

    static func lock(_ agent: Agent) -> Signal {
        Signal(number: SIGUSR1, label: "steward.usr1") { await agent.core.vaults.lock(.signal) }
    }

    func run() async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: label))
        source.setEventHandler { continuation.yield() }
        source.resume()
        await cancelWhenGracefulShutdown {
            for await _ in signals { await act() }
        }
        source.cancel()
    }
}
