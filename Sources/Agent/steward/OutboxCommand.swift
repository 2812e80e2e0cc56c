import AgentKit
import ArgumentParser
import Platform

/// `steward outbox`
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Show and manage published events that have not been delivered.",
        subcommands: [List.self, Retry.self, Drop.self],
        defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show events that are waiting, being sent or given up, and why.")

        @OptionGroup var options: CommonOptions

        var request: ListDeliveries { ListDeliveries() }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Send a waiting event, or one that was given up, now.",
            discussion: "It is sent under the same key as before, so that the receiver recognises a repetition.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id shown by `outbox list`, or a prefix of its job's.") var id: String?
        @Flag(help: "All events that are waiting or were given up.") var all = false

        func validate() throws {
            guard (id == nil) == all else { throw ValidationError("Name an event, or use `--all`.") }
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
            commandName: "drop", abstract: "Drop an event, so that it is not sent.",
            discussion: "This does not affect delivered events.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id shown by `outbox list`, or a prefix of its job's.") var id: String

        var request: DropDelivery { DropDelivery(id) }
    }
}
