import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward reload`
struct Reload: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make the agent read its rules again, and wait for it.",
        discussion:
            "The agent does this automatically when a rule file changes. An invalid rule leaves the current rules in force."
    )

    @OptionGroup var options: CommonOptions

    var request: ReloadRules { ReloadRules() }
}
