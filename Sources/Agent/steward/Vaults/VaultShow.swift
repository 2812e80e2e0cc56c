import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault show`
struct VaultShow: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show everything the vault knows about a comic.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    var request: ShowVaultComic { ShowVaultComic(comic.shown) }
}
