import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward quarantine`
struct Quarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Look after files that a rule refused.",
        subcommands: [List.self, Restore.self, Drop.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show what lies in quarantine, and why.")

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Output.guarding { try await options.look(ListQuarantine()) }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Put a file back where it was.",
            discussion: "It counts as seen; `steward reprocess FILE` has the rules look at it again.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        func run() async throws {
            try await Output.guarding { try await options.carryOut(RestoreQuarantined(id)) }
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Delete a refused file for good.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        func run() async throws {
            try await Output.guarding { try await options.carryOut(DropQuarantined(id)) }
        }
    }
}
