import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault rename`
struct VaultRename: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a comic of the vault another name.",
        discussion: "A name used by another comic is refused.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The new name: one file name.")
    var name: PathArgument

    var request: RenameVaultComic { RenameVaultComic(comic.shown, to: name.path) }
}
