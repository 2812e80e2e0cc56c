import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward blocks`
struct Blocks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blocks", abstract: "Show and restore blocks that a save has removed from a note.",
        subcommands: [List.self, Restore.self],
        defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the blocks missing from their notes, and why.")

        @OptionGroup var options: CommonOptions
        @Flag(help: "Include blocks that somebody removed deliberately.") var all = false

        var request: ListMissingBlocks { ListMissingBlocks(all: all) }
    }

    struct Restore: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Restore missing blocks to their notes.",
            discussion: "Without an anchor, all blocks shown by `blocks list`.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The block's anchor, such as ^cap-0930.") var anchor: String?
        @Option(help: "The note, if several lack a block with that anchor.", completion: .file()) var note:
            PathArgument?

        var request: RestoreBlocks { RestoreBlocks(anchor, in: note?.absolute) }
    }
}
