import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault list`
struct VaultList: VaultRequestCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the vault's comics.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    var request: ListVaultComics { ListVaultComics() }
}
