import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine`
struct VaultQuarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Manage waiting deposits, and objects without a comic.",
        subcommands: [VaultQuarantineList.self, VaultIngest.self, VaultAdopt.self, VaultDiscard.self],
        defaultSubcommand: VaultQuarantineList.self)
}
