import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine`
struct VaultQuarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Look after deposits that wait, and objects that no comic has.",
        subcommands: [VaultQuarantineList.self, VaultIngest.self, VaultAdopt.self, VaultDiscard.self],
        defaultSubcommand: VaultQuarantineList.self)
}
