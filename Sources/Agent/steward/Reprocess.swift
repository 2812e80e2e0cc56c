import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules
import TKCommands

/// `steward reprocess`
struct Reprocess: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprocess", abstract: "Run rules again on files they have already processed.",
        discussion: "Give a file or folder, a rule, or both.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "A file or folder.", completion: .file())
    var path: PathArgument?

    @Option(name: .long, help: "Only this rule.")
    var rule: String?

    var request: ReprocessFiles { ReprocessFiles(rule: rule, path: path?.absolute) }
}
