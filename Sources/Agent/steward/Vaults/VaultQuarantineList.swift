import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine list`
struct VaultQuarantineList: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the contents of the quarantine, and why they wait.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    var request: ListVaultQuarantine { ListVaultQuarantine() }
}
