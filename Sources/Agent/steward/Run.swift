import AgentKit
import ArgumentParser
import Foundation
import Glibc
import Logging
import Platform
import ServiceLifecycle
import UnixSignals

/// `steward run`
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Watch the places and carry out the rules, until told to stop.",
        discussion: "SIGTERM and SIGINT finish the steps at work and stop; SIGHUP reads the rules again.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = try options.configuration(directories)
            let log = Logger(label: "steward") { _ in
                StewardLogHandler(level: configuration.logLevel, json: configuration.logsJSON || options.json)
            }
            let agent = try Agent(configuration, directories, log: log)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [
                        .init(
                            service: agent, successTerminationBehavior: .gracefullyShutdownGroup,
                            failureTerminationBehavior: .cancelGroup),
                        .init(service: ReloadSignal(agent: agent), successTerminationBehavior: .ignore),
                    ], gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: Logger(label: "lifecycle") { _ in
                        StewardLogHandler(level: .error, json: configuration.logsJSON || options.json)
                    }))
            try await group.run()
        }
    }
}

/// SIGHUP reads the rules again.
private struct ReloadSignal: Service {
    let agent: Agent

    func run() async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "steward.hup"))
        source.setEventHandler { continuation.yield() }
        source.resume()
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                do {
                    try await agent.reload()
                } catch {
                    Output.complain("steward: the rules were not reloaded: \(explain(error))")
                }
            }
        }
        source.cancel()
    }
}
