import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward reload`
struct Reload: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have the agent read its rules again, and wait for it.",
        discussion:
            "The agent does so by itself when a rule file changes. A rule that is not valid leaves all as it was.")

    @OptionGroup var options: CommonOptions

    var request: ReloadRules { ReloadRules() }
}
