import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward quarantine`
struct Quarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Show, restore or delete files that a rule refused.",
        subcommands: [List.self, Restore.self, Drop.self],
        defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the files in quarantine, and why.")

        @OptionGroup var options: CommonOptions

        var request: ListQuarantine { ListQuarantine() }
    }

    struct Restore: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Put a file back where it was.",
            discussion: "It counts as seen; `steward reprocess FILE` runs the rules on it again.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        var request: RestoreQuarantined { RestoreQuarantined(id) }
    }

    struct Drop: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Delete a refused file permanently.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        var request: DropQuarantined { DropQuarantined(id) }
    }
}
