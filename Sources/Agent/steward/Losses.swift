import AgentKit
import ArgumentParser
import Platform

/// `steward losses`
struct Losses: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "losses", abstract: "Show and acknowledge lost databases.",
        discussion: """
            A database that is corrupt is set aside, never deleted, and an empty one begun. Until you acknowledge it, \
            `status`, `doctor` and `health` report it, and the metric steward_stores_lost counts it.
            """,
        subcommands: [List.self, Acknowledge.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show losses, where the old database is, and what you can do.")

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Output.guarding {
                let query = ListLosses()
                try options.show(try await query.read(try options.directories().losses), of: query)
            }
        }
    }

    struct Acknowledge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "acknowledge", abstract: "Acknowledge a loss; it is no longer reported.",
            discussion: "The old database stays where it is.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id shown by `losses`, or a prefix of it; all losses if none is given.") var id: String?

        func run() async throws {
            try await Output.guarding {
                let directories = try options.directories()
                let command = AcknowledgeLosses(id)
                // The agent may belong to another user. Without an agent, this does not open the ledger, which may
                // itself be lost.
                let done = try ControlClient.ask(command, at: directories.socket)
                try options.show(try done ?? command.acknowledge(directories.losses), of: command)
            }
        }
    }
}
