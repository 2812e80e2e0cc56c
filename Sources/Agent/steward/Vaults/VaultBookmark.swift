import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault bookmark`
struct VaultBookmark: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Show a vault comic's bookmarks, or set and remove one.",
        discussion: "With a page: adds or removes its bookmark.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var bookmark: BookmarkOptions

    var request: SetVaultBookmark { SetVaultBookmark(comic.shown, page: bookmark.page, onlyRemoves: bookmark.remove) }
}
