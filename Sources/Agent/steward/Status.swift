import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the agent is doing, and what needs your attention.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let command = ShowStatus()
            if let status = try ControlClient.ask(command, at: directories.socket) {
                return try options.show(status, of: command)
            }
            let configuration = try options.configuration(directories)
            guard let ledger = try Ledger.openForReading(directory: directories.state) else {
                throw Fault(.failed, "the agent has not run yet; start it with `steward run`")
            }
            let report = try await StatusReport.fromLedger(ledger, configuration, directories.losses)
            try options.show(report, of: command)
        }
    }
}
