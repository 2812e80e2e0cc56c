import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward blocks`
struct Blocks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blocks", abstract: "Look after blocks that a save has taken out of a note.",
        subcommands: [List.self, Restore.self],
        defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the blocks that their notes lack, and why.")

        @OptionGroup var options: CommonOptions
        @Flag(help: "Those as well that somebody who had them took out.") var all = false

        var request: ListMissingBlocks { ListMissingBlocks(all: all) }
    }

    struct Restore: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Put blocks back into the notes that lack them.",
            discussion: "Without an anchor all that `blocks list` shows.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The block's anchor, such as ^cap-0930.") var anchor: String?
        @Option(help: "The note, where several lack a block of that anchor.", completion: .file()) var note:
            PathArgument?

        var request: RestoreBlocks { RestoreBlocks(anchor, in: note?.absolute) }
    }
}
