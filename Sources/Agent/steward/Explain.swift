import AgentKit
import ArgumentParser
import Ledger
import Platform
import TKCommands

/// `steward explain`
struct Explain: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain which rules match a file and why, what was done with it, and what would be.",
        discussion: "Changes nothing: this is also the dry run.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The file.", completion: .file())
    var file: PathArgument

    @Option(name: .long, help: "As if this had happened: arrived, changed, renamed, removed; or scheduled.")
    var event: String?

    var request: ExplainFile { ExplainFile(file.absolute, event: event) }
}
