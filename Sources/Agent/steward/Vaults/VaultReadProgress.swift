import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault progress`
struct VaultReadProgress: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Show or set a vault comic's reading progress.",
        discussion: "It is sealed like the comic itself, and removed with it.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var mark: ReadingOptions

    var request: SetVaultProgress {
        SetVaultProgress(comic.shown, mark.set.map { .page($0) } ?? (mark.done ? .done : mark.reset ? .reset : nil))
    }
}
