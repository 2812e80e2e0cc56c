import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Platform

/// `steward vault progress`
struct VaultReadProgress: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Show or set how far a comic of the vault has been read.",
        discussion: "It is sealed like the comic itself, and goes when the comic is removed.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var mark: ReadingOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let change: VaultRequest.Mark? =
                mark.set != nil ? .page : mark.done ? .done : mark.reset ? .reset : nil
            let access = try options.access(unlocking.source(options))
            let reading = try access.ask(
                VaultRequest(.progress, options.vault, comic: comic.shown, page: mark.set, mark: change),
                as: VaultReading.self)
            access.close()
            try Output.show(reading, lines: reading.lines, json: options.json)
        }
    }
}

/// `steward vault bookmark`
struct VaultBookmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Show the bookmarks of a comic of the vault, or set and remove one.",
        discussion: "With a page: sets a bookmark where there is none, removes it where there is one.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var bookmark: BookmarkOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let page = bookmark.page
            let change: VaultRequest.Mark? = page == nil ? nil : bookmark.remove ? .remove : .toggle
            let access = try options.access(unlocking.source(options))
            let reading = try access.ask(
                VaultRequest(.bookmark, options.vault, comic: comic.shown, page: page, mark: change),
                as: VaultReading.self)
            access.close()
            try Output.show(reading, lines: reading.bookmarkLines(page), json: options.json)
        }
    }
}
