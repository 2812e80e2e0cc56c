import AgentKit
import ArgumentParser
import Platform

/// `steward health`
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Report whether the agent is healthy, and what needs your attention.",
        discussion: """
            For monitoring. Exit codes: 0 healthy, 2 something needs a person, 69 no agent is running, 1 it cannot be found \
            out.
            """)

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding {
            let socket = try options.directories().socket
            let command = ShowHealth()
            guard let health = try ControlClient.ask(command, at: socket) else {
                if options.json {
                    Output.json("{\"isRunning\" : false, \"isHealthy\" : false, \"findings\" : []}")
                } else {
                    Output.line("not running: nobody listens at \(socket)")
                }
                throw ExitCode(69)
            }
            try options.show(health, of: command)
            if !health.isHealthy { throw ExitCode(2) }
        }
    }
}
