import AgentKit
import ArgumentParser
import Platform

/// `steward outbox`
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Look after events that rules publish and that have not been delivered.",
        subcommands: [List.self, Retry.self, Drop.self],
        defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show what waits, what is being sent, and what was given up, and why.")

        @OptionGroup var options: CommonOptions

        var request: ListDeliveries { ListDeliveries() }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Send an event now that waits or was given up.",
            discussion: "It goes under the same key as before, so that a receiver who has it knows it again.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `outbox list` shows, or the beginning of its job's.") var id: String?
        @Flag(help: "All that wait or were given up.") var all = false

        func validate() throws {
            guard (id == nil) == all else { throw ValidationError("Say which event is meant, or `--all`.") }
        }

        func run() async throws {
            try await Output.guarding {
                guard let id else { return try await options.carryOut(RetryDeliveries()) }
                try await options.carryOut(RetryDelivery(id))
            }
        }
    }

    struct Drop: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Take an event out that is not to be sent.",
            discussion: "What was delivered stays delivered.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `outbox list` shows, or the beginning of its job's.") var id: String

        var request: DropDelivery { DropDelivery(id) }
    }
}
