import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault progress`
struct VaultReadProgress: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Show or set how far a comic of the vault has been read.",
        discussion: "It is sealed like the comic itself, and goes when the comic is removed.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: String

    @Option(name: .long, help: "The page being read, from 1; the last one makes it read.")
    var set: Int?

    @Flag(name: .long, help: "It was read to its end.")
    var done = false

    @Flag(name: .long, help: "Forget how far it was read, and its bookmarks.")
    var reset = false

    func validate() throws {
        if [set != nil, done, reset].filter({ $0 }).count > 1 {
            throw ValidationError("--set, --done and --reset exclude each other")
        }
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let mark: VaultRequest.Mark? = set != nil ? .page : done ? .done : reset ? .reset : nil
            let access = try options.access(unlocking.source(options))
            let reading = try access.ask(
                VaultRequest(.progress, options.vault, comic: comic, page: set, mark: mark), as: VaultReading.self)
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
    var comic: String

    @Argument(help: "A page, from 1.")
    var page: Int?

    @Flag(name: .long, help: "Remove the bookmark, if there is one.")
    var remove = false

    func validate() throws {
        if remove && page == nil { throw ValidationError("say which page's bookmark to remove") }
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let mark: VaultRequest.Mark? = page == nil ? nil : remove ? .remove : .toggle
            let access = try options.access(unlocking.source(options))
            let reading = try access.ask(
                VaultRequest(.bookmark, options.vault, comic: comic, page: page, mark: mark), as: VaultReading.self)
            access.close()
            try Output.show(reading, lines: reading.bookmarkLines(page), json: options.json)
        }
    }
}
