import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault bookmark`
struct VaultBookmark: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Show the bookmarks of a comic of the vault, or set and remove one.",
        discussion: "With a page: sets a bookmark where there is none, removes it where there is one.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var bookmark: BookmarkOptions

    var request: SetVaultBookmark { SetVaultBookmark(comic.shown, page: bookmark.page, onlyRemoves: bookmark.remove) }
}
