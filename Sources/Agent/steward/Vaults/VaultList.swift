import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault list`
struct VaultList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the vault's comics.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(ListVaultComics(), unlocking) }
    }
}
