import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine list`
struct VaultQuarantineList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show what waits, and why.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(ListVaultQuarantine(), unlocking) }
    }
}
